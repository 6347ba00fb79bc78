-- A sku that was read out of an address tells addresses apart, not products.

-- Of two columns, not of a row: an operator may have put a view in the table's place.
CREATE FUNCTION seine_own_sku(sku text, item jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN item #>> '{sources,sku}' = 'url' THEN NULL ELSE sku END
$$;

CREATE OR REPLACE FUNCTION seine_merge_twins(site text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    merged integer;
BEGIN
    CREATE TEMP TABLE twins ON COMMIT DROP AS
    SELECT p.external_id AS other, k.external_id AS kept
    FROM products p
    CROSS JOIN LATERAL (
        SELECT q.external_id, seine_own_sku(q.sku, q.item) AS sku, q.first_seen FROM products q
        WHERE q.gtin = p.gtin AND q.site_id = site
        ORDER BY q.first_seen, q.external_id LIMIT 1
    ) k
    WHERE p.site_id = site AND p.gtin IS NOT NULL AND p.external_id <> k.external_id
      AND (seine_own_sku(p.sku, p.item) IS NULL OR k.sku IS NULL OR seine_own_sku(p.sku, p.item) = k.sku);
    -- In the order of their keys, like every writer.
    PERFORM 1 FROM products
    WHERE site_id = site AND external_id IN (SELECT other FROM twins UNION SELECT kept FROM twins)
    ORDER BY external_id FOR UPDATE;
    INSERT INTO product_urls (site_id, url, external_id, first_seen)
    SELECT site, p.url, t.kept, p.first_seen
    FROM twins t JOIN products p ON p.site_id = site AND p.external_id = t.other
    ORDER BY p.url
    ON CONFLICT (site_id, url) DO UPDATE SET external_id = EXCLUDED.external_id;
    UPDATE product_urls u SET external_id = t.kept FROM twins t
    WHERE u.site_id = site AND u.external_id = t.other;
    UPDATE product_versions v SET external_id = t.kept FROM twins t
    WHERE v.site_id = site AND v.external_id = t.other;
    DELETE FROM products p USING twins t WHERE p.site_id = site AND p.external_id = t.other;
    GET DIAGNOSTICS merged = ROW_COUNT;
    DROP TABLE twins;
    RETURN merged;
END $$;
