-- What deserves another look first: how much a product matters, and how often its price changes.

ALTER TABLE products
    ADD COLUMN importance      double precision,
    ADD COLUMN price_changes   integer          NOT NULL DEFAULT 0,
    ADD COLUMN price_changed_s double precision NOT NULL DEFAULT 0,
    ADD CONSTRAINT products_importance CHECK (importance > 0 AND importance <= 1000);

COMMENT ON COLUMN products.importance IS 'how much a wrong price matters beside other products, by a watch list; NULL: the site file says, else 1';
COMMENT ON COLUMN products.price_changes IS 'unannounced looks that found another price, regular price, currency or availability';
COMMENT ON COLUMN products.price_changed_s IS 'of observed_s, the seconds before each of these looks';

-- What is known of the changes so far: of those that were kept, the ones of a price.
UPDATE products p SET
    price_changes = least(v.changes, cardinality(p.changed_after)),
    price_changed_s = (SELECT sum(s) FROM unnest(p.changed_after) s)
        * least(v.changes, cardinality(p.changed_after)) / cardinality(p.changed_after)
FROM (
    SELECT site_id, external_id, count(DISTINCT changed_at) AS changes FROM product_versions
    WHERE field IN ('price', 'regular_price', 'currency', 'availability')
    GROUP BY site_id, external_id
) v
WHERE p.site_id = v.site_id AND p.external_id = v.external_id AND p.changed_after <> '{}';
