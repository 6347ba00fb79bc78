-- What lists of many products are read by: each order is walked from a place on, none is sorted.

CREATE INDEX products_changed ON products (updated_at, site_id, external_id);
CREATE INDEX products_new ON products (first_seen, site_id, external_id);
CREATE INDEX products_price ON products (price, site_id, external_id) WHERE price IS NOT NULL;
CREATE INDEX products_stock ON products (availability, updated_at);

-- The words that a product is found by. Punctuation parts words here, because the parser would read
-- the hyphen of AB-12 as a sign; cut, because a list of words has a limit.
-- In PL/pgSQL, so that the planner is told what a call costs: it would read a million rows instead.
CREATE FUNCTION seine_words(name text, brand text, external_id text, sku text, gtin text)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 5000 AS $$
BEGIN RETURN to_tsvector('pg_catalog.simple', translate(
    left(name, 2000) || ' ' || left(coalesce(brand, ''), 200) || ' ' || left(external_id, 500)
        || ' ' || left(coalesce(sku, ''), 200) || ' ' || coalesce(gtin, ''),
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)));
END $$;
CREATE INDEX products_words ON products USING gin (seine_words(name, brand, external_id, sku, gtin));

CREATE INDEX attempts_at ON attempts (at);
-- Of those that went well nobody asks by outcome.
CREATE INDEX attempts_failed ON attempts (outcome, at) WHERE outcome <> 'ok';
