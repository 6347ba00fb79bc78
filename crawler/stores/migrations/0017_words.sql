-- A search reads a product's words from a column: made anew for each row that a list passes, they
-- took most of its time. The table is written once more: about a minute for a million products,
-- in which writers wait.

DROP INDEX products_words;
-- translate() compares each character with each mark, which took four times as long.
CREATE OR REPLACE FUNCTION seine_words(name text, brand text, external_id text, sku text, gtin text)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 AS $$
BEGIN RETURN to_tsvector('pg_catalog.simple', regexp_replace(
    left(name, 2000) || ' ' || left(coalesce(brand, ''), 200) || ' ' || left(external_id, 500)
        || ' ' || left(coalesce(sku, ''), 200) || ' ' || coalesce(gtin, ''),
    '[!-/:-@[-`{-~]', ' ', 'g'));
END $$;
ALTER TABLE products ADD COLUMN words tsvector
    GENERATED ALWAYS AS (seine_words(name, brand, external_id, sku, gtin)) STORED;
COMMENT ON COLUMN products.words IS 'what a search finds the product by; made by the server';
CREATE INDEX products_words ON products USING gin (words);

-- Which way a price moved: -1, 0 or 1; NULL where either is no number, because an index must never
-- refuse a row.
CREATE FUNCTION seine_price_move(old jsonb, new jsonb) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN (old #>> '{}') ~ '^-?[0-9]{1,40}(\.[0-9]{1,40})?$'
                 AND (new #>> '{}') ~ '^-?[0-9]{1,40}(\.[0-9]{1,40})?$'
                THEN sign((new #>> '{}')::numeric - (old #>> '{}')::numeric)::smallint END
$$;
CREATE INDEX product_versions_moves
    ON product_versions (seine_price_move(old, new), changed_at) WHERE field = 'price';

ANALYZE products;
ANALYZE product_versions;
