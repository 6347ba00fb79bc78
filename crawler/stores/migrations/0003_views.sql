-- Views for analysts.

CREATE VIEW current_products AS
SELECT site_id, external_id, name, price, regular_price, currency, availability, brand, sku, gtin,
       mpn, rating, review_count, url, image, first_seen, updated_at, scraped_at
FROM products WHERE gone_at IS NULL;

CREATE VIEW price_changes AS
SELECT v.changed_at, v.site_id, v.external_id, p.name, p.currency,
       (v.old #>> '{}')::numeric AS old_price, (v.new #>> '{}')::numeric AS new_price,
       round(((v.new #>> '{}')::numeric / nullif((v.old #>> '{}')::numeric, 0) - 1) * 100, 2)
           AS percent,
       p.url
FROM product_versions v JOIN products p USING (site_id, external_id)
WHERE v.field = 'price';

CREATE VIEW price_changes_last_day AS
SELECT * FROM price_changes WHERE changed_at > now() - interval '1 day';

CREATE VIEW attempts_by_provider_and_hour AS
SELECT date_trunc('hour', at) AS hour, coalesce(proxy_provider, 'direct') AS provider,
       count(*) AS attempts,
       count(*) FILTER (WHERE outcome = 'ok') AS ok,
       round(100.0 * count(*) FILTER (WHERE outcome = 'ok') / count(*), 2) AS percent_ok,
       sum(bytes) AS bytes,
       round(avg(duration_ms)) AS mean_ms,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
FROM attempts GROUP BY 1, 2;

-- Every address under which a product was met.
CREATE VIEW product_addresses AS
SELECT site_id, url, external_id FROM products
UNION
SELECT site_id, url, external_id FROM product_urls;
