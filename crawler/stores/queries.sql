-- The statements of the writers, each after its name. A batch is sent as one JSON document, because
-- that is the cheapest way to send many rows without a session (measured against arrays and COPY),
-- and the item is sent once instead of once as columns and once as JSON.
-- A scraped_at more than five minutes in the future came from a wrong clock, so any page counts as
-- newer. It is compared with the later one of this server's clock and the caller's (now), because
-- good rows would seem to be in the future if this server's clock is behind.

-- name: look
-- The stored products of a batch. keys: [{i, s, e}]
SELECT k.i, p.content_hash, p.scraped_at, p.gone_at IS NOT NULL, p.url,
       p.scraped_at > greatest(now(), %(now)s) + interval '5 minutes'
FROM jsonb_to_recordset(%(keys)s::jsonb) AS k(i integer, s text, e text)
JOIN products p ON p.site_id = k.s AND p.external_id = k.e

-- name: twins_by_gtin
-- Products with the GTIN of a key that is not stored. rows: [{i, s, g}]
SELECT k.i, p.external_id, seine_own_sku(p.sku, p.item), p.gtin
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(i integer, s text, g text)
JOIN products p ON p.gtin = k.g AND p.site_id = k.s

-- name: twins_by_url
-- The same by URL: a product's own, or a further one. rows: [{i, s, u}]
SELECT k.i, p.external_id, seine_own_sku(p.sku, p.item), p.gtin
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(i integer, s text, u text)
JOIN products p ON hashtextextended(p.url, 0) = hashtextextended(k.u, 0)
    AND p.url = k.u AND p.site_id = k.s
UNION ALL
SELECT k.i, p.external_id, seine_own_sku(p.sku, p.item), p.gtin
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(i integer, s text, u text)
JOIN product_urls a ON a.site_id = k.s AND a.url = k.u
JOIN products p ON p.site_id = a.site_id AND p.external_id = a.external_id

-- name: twins_by_name
-- The one product whose own page had the same name before, whatever its number. Of several, which
-- are a page's variants, none is meant. rows: [{i, s, u, n, t}]
SELECT k.i, min(p.external_id), NULL, min(p.gtin)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(i integer, s text, u text, n text, t timestamptz)
JOIN products p ON hashtextextended(p.url, 0) = hashtextextended(k.u, 0)
    AND p.url = k.u AND p.site_id = k.s AND p.name = k.n
GROUP BY k.i, k.t
HAVING count(*) = 1 AND min(p.scraped_at) < k.t

-- name: add_sites
-- names: [site_id]
INSERT INTO sites (site_id)
SELECT value FROM jsonb_array_elements_text(%(names)s::jsonb) ORDER BY value
ON CONFLICT (site_id) DO NOTHING

-- name: upsert_products
-- items: [{h: hex digest, v: item, g: etag, l: last modified, p: parser, n: told}], new or changed.
-- In the order of their keys, so that writers never deadlock.
INSERT INTO products AS p (
    site_id, external_id, url, name, price, regular_price, currency, availability, brand, sku,
    gtin, mpn, rating, review_count, image, canonical_url, item, content_hash, job_id,
    first_seen, scraped_at, updated_at, etag, last_modified, parser, told)
SELECT v ->> 'site_id', v ->> 'external_id', v ->> 'url', v ->> 'name',
       (v ->> 'price')::numeric, (v ->> 'regular_price')::numeric, v ->> 'currency',
       v ->> 'availability', v ->> 'brand', v ->> 'sku', v ->> 'gtin', v ->> 'mpn',
       (v ->> 'rating')::double precision, (v ->> 'review_count')::bigint, v #>> '{images,0}',
       v ->> 'canonical_url', v, decode(h, 'hex'), v ->> 'job_id', t, t, t, g, l, p, n
FROM (
    SELECT e ->> 'h' AS h, e ->> 'g' AS g, e ->> 'l' AS l, e ->> 'p' AS p,
           coalesce((e ->> 'n')::boolean, false) AS n, e -> 'v' AS v,
           (e -> 'v' ->> 'scraped_at')::timestamptz AS t
    FROM jsonb_array_elements(%(items)s::jsonb) AS x(e)
) AS made
ORDER BY 1, 2
ON CONFLICT (site_id, external_id) DO UPDATE SET
    url = EXCLUDED.url, name = EXCLUDED.name, price = EXCLUDED.price,
    regular_price = EXCLUDED.regular_price, currency = EXCLUDED.currency,
    availability = EXCLUDED.availability, brand = EXCLUDED.brand, sku = EXCLUDED.sku,
    gtin = EXCLUDED.gtin, mpn = EXCLUDED.mpn, rating = EXCLUDED.rating,
    review_count = EXCLUDED.review_count, image = EXCLUDED.image,
    canonical_url = EXCLUDED.canonical_url, item = EXCLUDED.item,
    content_hash = EXCLUDED.content_hash, job_id = EXCLUDED.job_id,
    scraped_at = EXCLUDED.scraped_at, updated_at = EXCLUDED.updated_at, gone_at = NULL,
    missing_at = NULL,
    etag = EXCLUDED.etag, last_modified = EXCLUDED.last_modified, parser = EXCLUDED.parser,
    told = EXCLUDED.told,
    observed_s = p.observed_s
        + greatest(0, extract(epoch FROM EXCLUDED.scraped_at - p.scraped_at)),
    changed_after = CASE WHEN EXCLUDED.told OR EXCLUDED.scraped_at <= p.scraped_at
        THEN p.changed_after ELSE seine_changed_after(
            p.changed_after, extract(epoch FROM EXCLUDED.scraped_at - p.scraped_at)) END,
    -- A reading without an announcement found another price than the row has.
    (price_changes, price_changed_s) = (
        SELECT p.price_changes + n,
               p.price_changed_s + n * extract(epoch FROM EXCLUDED.scraped_at - p.scraped_at)
        FROM (SELECT (
            NOT EXCLUDED.told AND EXCLUDED.scraped_at > p.scraped_at
            AND (p.price, p.regular_price, p.currency, p.availability) IS DISTINCT FROM
                (EXCLUDED.price, EXCLUDED.regular_price, EXCLUDED.currency, EXCLUDED.availability)
        )::integer AS n) AS look)
WHERE p.content_hash <> EXCLUDED.content_hash
  AND (p.scraped_at < EXCLUDED.scraped_at
       OR p.scraped_at > greatest(now(), %(now)s) + interval '5 minutes')

-- name: look_closer
-- The stored products whose pages differ, and the values of fields r from before their changes
-- since t. keys: [{i, s, e, d: all of the item, r: [field], t}]
SELECT k.i, CASE WHEN k.d THEN p.item ELSE jsonb_strip_nulls(jsonb_build_object(
           'name', p.name, 'sku', p.sku, 'price', p.price::text,
           'regular_price', p.regular_price::text, 'currency', p.currency, 'gtin', p.gtin,
           'canonical_url', p.canonical_url)) END,
       p.url, p.scraped_at, coalesce((
           SELECT jsonb_object_agg(c.field, c.old ORDER BY c.changed_at, c.id)
           FROM product_versions c
           WHERE k.r <> '[]' AND c.site_id = k.s AND c.external_id = k.e AND c.changed_at > k.t
             AND k.r ? c.field), '{}')
FROM jsonb_to_recordset(%(keys)s::jsonb)
    AS k(i integer, s text, e text, d boolean, r jsonb, t timestamptz)
JOIN products p ON p.site_id = k.s AND p.external_id = k.e

-- name: find_doubtful
-- The recorded doubts about these products, the number of jumped prices of the site (at most 12), and
-- whether one of the next 60 products was seen with the kept currency since.
-- keys: [{i, s, e}]
SELECT k.i, d.field, d.value, d.first_at, (SELECT count(*) FROM (
    SELECT 1 FROM doubtful o WHERE o.site_id = d.site_id AND o.kind = 'jump' LIMIT 12) x),
       d.field = 'currency' AND EXISTS (
           SELECT 1 FROM (
               SELECT p.external_id, p.currency, p.scraped_at FROM products p
               WHERE p.site_id = d.site_id AND p.external_id > d.external_id
               ORDER BY p.external_id LIMIT 60) p
           WHERE p.currency = d.kept #>> '{}' AND p.scraped_at > d.first_at AND NOT EXISTS (
               SELECT 1 FROM doubtful o WHERE o.site_id = d.site_id
                 AND o.external_id = p.external_id AND o.field = 'currency'))
FROM jsonb_to_recordset(%(keys)s::jsonb) AS k(i integer, s text, e text)
JOIN doubtful d ON d.site_id = k.s AND d.external_id = k.e

-- name: add_doubtful
-- rows: [{s, e, f: field, d: kind, r: reason, u, v: value, k: kept, t}], in the order of their keys
INSERT INTO doubtful AS x
    (site_id, external_id, field, kind, reason, url, value, kept, first_at, seen_at)
SELECT k.s, k.e, k.f, k.d, k.r, k.u, k.v, k.k, k.t, k.t
FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS k(s text, e text, f text, d text, r text, u text, v jsonb, k jsonb, t timestamptz)
ON CONFLICT (site_id, external_id, field) DO UPDATE SET
    kind = EXCLUDED.kind, reason = EXCLUDED.reason, url = EXCLUDED.url, kept = EXCLUDED.kept,
    first_at = CASE WHEN x.value IS NOT DISTINCT FROM EXCLUDED.value THEN x.first_at
        ELSE EXCLUDED.first_at END,
    value = EXCLUDED.value, times = x.times + 1, seen_at = EXCLUDED.seen_at
WHERE x.seen_at <= EXCLUDED.seen_at

-- name: settle_doubtful
-- rows: [{s, e, u, t, f: fields still in doubt, v: values stored now}]; a key conflict with another
-- page is not settled by the product's own page, that of the own page is
DELETE FROM doubtful d
USING jsonb_to_recordset(%(rows)s::jsonb)
    AS k(s text, e text, u text, t timestamptz, f jsonb, v jsonb)
WHERE d.site_id = k.s AND d.external_id = k.e AND d.seen_at < k.t
  AND (d.field <> 'external_id' OR d.url = k.u) AND NOT k.f ? d.field
  AND NOT (d.kind = 'changed' AND d.first_at <= k.t - interval '1 hour'
           AND coalesce(d.value = k.v -> d.field, false))

-- name: forget_doubtful
-- Forget old doubts, and those about products of a site that are gone since.
DELETE FROM doubtful d
WHERE d.seen_at < %(before)s OR (d.site_id = %(site)s AND d.kind = 'absent' AND EXISTS (
    SELECT 1 FROM products p WHERE p.site_id = d.site_id AND p.external_id = d.external_id
      AND p.gone_at IS NOT NULL))

-- name: forget_accepted
-- Forget the doubts about values that are stored since, because a later crawl had them, too. Until
-- its end they kept the same crawl from taking the values back when it read the pages again.
DELETE FROM doubtful d
WHERE d.site_id = %(site)s AND d.kind = 'changed' AND EXISTS (
    SELECT 1 FROM products p WHERE p.site_id = d.site_id AND p.external_id = d.external_id
      AND p.item -> d.field = d.value)

-- name: add_dead_ends
-- rows: [{h: shape, s, p: pages, t}], in the order of their shapes
INSERT INTO dead_ends AS x (shape, site_id, pages, noticed_at)
SELECT k.h, k.s, k.p, k.t
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(h text, s text, p integer, t timestamptz)
ON CONFLICT (shape) DO UPDATE SET
    site_id = EXCLUDED.site_id, pages = EXCLUDED.pages, noticed_at = EXCLUDED.noticed_at
WHERE x.noticed_at <= EXCLUDED.noticed_at

-- name: forget_dead_ends
DELETE FROM dead_ends WHERE pages = 0

-- name: newest_dead_ends
SELECT shape, site_id, pages, noticed_at FROM (
    SELECT * FROM dead_ends ORDER BY noticed_at DESC LIMIT 1000) x ORDER BY shape

-- name: accepted_fields
SELECT site_id, field FROM accepted_doubts WHERE site_id = ANY(%(sites)s) AND until > now()

-- name: accept_doubts
-- Accept a site's doubtful values of one field until a time; returns their number.
WITH made AS (
    INSERT INTO accepted_doubts (site_id, field, until) VALUES (%(site)s, %(field)s, %(until)s)
    ON CONFLICT (site_id, field) DO UPDATE SET until = EXCLUDED.until)
SELECT count(*) FROM doubtful WHERE site_id = %(site)s AND field = %(field)s

-- name: add_templates
-- rows: [{s, c: cluster, v: version, p: pages, l: learned, n: changed, t}]
INSERT INTO site_templates AS x
    (site_id, cluster, version, pages, learned, changed, updated_at)
SELECT k.s, k.c, k.v, k.p, k.l, k.n, k.t
FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS k(s text, c text, v integer, p bigint, l jsonb, n text, t timestamptz)
ORDER BY k.s, k.c
ON CONFLICT (site_id, cluster) DO UPDATE SET
    version = EXCLUDED.version, pages = EXCLUDED.pages, learned = EXCLUDED.learned,
    changed = coalesce(EXCLUDED.changed, x.changed), updated_at = EXCLUDED.updated_at
WHERE (x.version, x.pages) <= (EXCLUDED.version, EXCLUDED.pages)
   OR x.updated_at < EXCLUDED.updated_at - interval '1 day'

-- name: newest_templates
SELECT site_id, cluster, learned FROM site_templates
WHERE %(site)s::text IS NULL OR site_id = %(site)s ORDER BY updated_at DESC LIMIT %(limit)s

-- name: stored_currencies
-- URLs and currencies of the first and the last products of a site.
SELECT * FROM (
    SELECT url, currency FROM products WHERE site_id = %(site)s AND currency IS NOT NULL
    ORDER BY first_seen, external_id LIMIT 12) AS oldest
UNION ALL SELECT * FROM (
    SELECT url, currency FROM products WHERE site_id = %(site)s AND currency IS NOT NULL
    ORDER BY first_seen DESC, external_id DESC LIMIT 48) AS newest

-- name: stored_before
-- Values of products by URL from before the changes of the last minutes, because the page may have
-- been stored already, the price before that one, and what earlier crawls doubted.
SELECT p.url, jsonb_build_object(
           'name', p.item -> 'name', 'price', p.item -> 'price', 'sku', p.item -> 'sku',
           'currency', p.item -> 'currency', 'availability', p.item -> 'availability',
           'regular_price', p.item -> 'regular_price', 'brand', p.item -> 'brand',
           'gtin', p.item -> 'gtin', 'images', p.item -> 'images',
           'breadcrumbs', p.item -> 'breadcrumbs',
           'description', left(p.item ->> 'description', 200),
           'earlier_price', (
               SELECT c.old FROM product_versions c
               WHERE c.site_id = p.site_id AND c.external_id = p.external_id AND c.field = 'price'
                 AND c.changed_at <= now() - interval '15 minutes'
               ORDER BY c.changed_at DESC LIMIT 1),
           'doubted', (
               SELECT jsonb_object_agg(d.field, d.value) FROM doubtful d
               WHERE d.site_id = p.site_id AND d.external_id = p.external_id
                 AND d.kind = 'changed' AND d.first_at <= now() - interval '1 hour'))
       || coalesce(v.old, '{}')
FROM unnest(%(urls)s::text[]) AS k(u)
JOIN products p ON hashtextextended(p.url, 0) = hashtextextended(k.u, 0) AND p.url = k.u
    AND p.site_id = %(site)s
LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(c.field, c.old ORDER BY c.changed_at DESC) AS old
    FROM product_versions c
    WHERE c.site_id = p.site_id AND c.external_id = p.external_id
      AND c.changed_at > now() - interval '15 minutes' AND c.field IN (
          'name', 'price', 'sku', 'currency', 'availability', 'regular_price', 'brand', 'gtin',
          'images', 'breadcrumbs', 'description')
) v ON true
ORDER BY p.first_seen DESC

-- name: refresh_products
-- Unchanged products that were written long ago or were gone. rows: [{i, s, e, u, t, j, g, l, p}];
-- the validators are those of the response at u, and are stored if u is the row's own URL. A row
-- that another writer has locked is skipped, because it is being written anyway.
UPDATE products p SET scraped_at = k.t, job_id = coalesce(k.j, p.job_id), gone_at = NULL,
    missing_at = NULL,
    observed_s = p.observed_s + greatest(0, extract(epoch FROM k.t - p.scraped_at)),
    etag = CASE WHEN p.url = k.u THEN k.g ELSE p.etag END,
    last_modified = CASE WHEN p.url = k.u THEN k.l ELSE p.last_modified END,
    parser = CASE WHEN p.url = k.u THEN k.p ELSE p.parser END
FROM (
    SELECT k.i, k.u, k.t, k.j, k.g, k.l, k.p, q.site_id, q.external_id
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(
        i integer, s text, e text, u text, t timestamptz, j text, g text, l text, p text)
    JOIN products q ON q.site_id = k.s AND q.external_id = k.e
    FOR UPDATE OF q SKIP LOCKED
) k
WHERE p.site_id = k.site_id AND p.external_id = k.external_id
  AND (p.scraped_at < k.t OR p.scraped_at > greatest(now(), %(now)s) + interval '5 minutes')
RETURNING k.i

-- name: find_confirmed
-- The products that were read from the unchanged responses. rows: [{i, s, u, g, l}]
SELECT k.i, p.external_id, p.parser
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(i integer, s text, u text, g text, l text)
JOIN products p ON hashtextextended(p.url, 0) = hashtextextended(k.u, 0)
    AND p.url = k.u AND p.site_id = k.s
    AND p.etag IS NOT DISTINCT FROM k.g AND p.last_modified IS NOT DISTINCT FROM k.l
ORDER BY k.s, p.external_id

-- name: mark_vanished
-- rows: [{s, u, t, f: gone by that, d: doubtful, b: blank}]. A page that shows no product may be a
-- passing error in the shop's design, so that it is doubtful until a later crawl finds it again. A
-- blank page says nothing, so that its doubt begins anew each time. A row that another writer has
-- locked is being written, so it is not gone. A selected row that is not marked was kept out by a
-- trigger.
WITH asked AS MATERIALIZED (
    SELECT k.t, k.f, k.d, k.b, q.site_id, q.external_id, q.url, q.availability
    FROM jsonb_to_recordset(%(rows)s::jsonb)
        AS k(s text, u text, t timestamptz, f boolean, d boolean, b boolean)
    JOIN products q ON hashtextextended(q.url, 0) = hashtextextended(k.u, 0)
        AND q.url = k.u AND q.site_id = k.s
    WHERE q.scraped_at < k.t OR q.scraped_at > greatest(now(), %(now)s) + interval '5 minutes'
    FOR UPDATE OF q SKIP LOCKED
), marked AS (
    UPDATE products p SET missing_at = k.t,
        gone_at = CASE WHEN k.f THEN coalesce(p.gone_at, k.t) ELSE p.gone_at END
    FROM asked k WHERE p.site_id = k.site_id AND p.external_id = k.external_id
    RETURNING k.f, p.site_id, p.external_id
), doubted AS (
    INSERT INTO doubtful AS x
        (site_id, external_id, field, kind, reason, url, kept, first_at, seen_at)
    SELECT site_id, external_id, 'availability', 'absent',
        CASE WHEN bool_and(b) THEN 'its page is blank' ELSE 'its page shows no product' END, url,
        to_jsonb(availability), max(t), max(t)
    FROM asked WHERE d GROUP BY site_id, external_id, url, availability
    ORDER BY site_id, external_id
    ON CONFLICT (site_id, external_id, field) DO UPDATE SET
        kind = EXCLUDED.kind, reason = EXCLUDED.reason, url = EXCLUDED.url, kept = EXCLUDED.kept,
        first_at = CASE WHEN x.kind = EXCLUDED.kind AND x.reason = EXCLUDED.reason
                AND EXCLUDED.reason <> 'its page is blank' AND NOT EXISTS (
                SELECT 1 FROM products p WHERE p.site_id = x.site_id
                  AND p.external_id = x.external_id AND p.scraped_at > x.first_at)
            THEN x.first_at ELSE EXCLUDED.first_at END,
        value = NULL, times = x.times + 1, seen_at = EXCLUDED.seen_at
    WHERE x.seen_at <= EXCLUDED.seen_at
)
SELECT f, true FROM marked
UNION ALL
SELECT f, false FROM asked
WHERE (site_id, external_id) NOT IN (SELECT site_id, external_id FROM marked)

-- name: add_urls
-- Further URLs of stored products. rows: [{s, u, e, t}]
INSERT INTO product_urls AS a (site_id, url, external_id, first_seen)
SELECT k.s, k.u, k.e, k.t
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(s text, u text, e text, t timestamptz)
ORDER BY k.s, k.u
ON CONFLICT (site_id, url) DO UPDATE
SET external_id = EXCLUDED.external_id, first_seen = EXCLUDED.first_seen
WHERE a.external_id <> EXCLUDED.external_id AND a.first_seen <= EXCLUDED.first_seen

-- name: count_urls
-- The number of these URLs that are stored for their products, or since for others. rows as in
-- add_urls
SELECT count(*) FROM product_urls a
JOIN jsonb_to_recordset(%(rows)s::jsonb) AS k(s text, u text, e text, t timestamptz)
    ON a.site_id = k.s AND a.url = k.u AND (a.external_id = k.e OR a.first_seen > k.t)

-- name: add_sightings
-- Products seen but not written. rows: [{s, j, t, k: [external_id]}]
INSERT INTO sightings (site_id, job_id, seen_at, external_ids)
SELECT k.s, k.j, k.t, ARRAY(SELECT jsonb_array_elements_text(k.k))
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(s text, j text, t timestamptz, k jsonb)

-- name: add_rejected
-- rows: [{id, s, j, u, r, v, t, c: SQLSTATE, n: constraint}]
INSERT INTO rejected_items AS x
    (id, site_id, job_id, url, reason, item, first_at, rejected_at, code, constraint_name)
SELECT k.id, k.s, k.j, k.u, k.r, k.v, k.t, k.t, k.c, k.n
FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS k(id uuid, s text, j text, u text, r text, v jsonb, t timestamptz, c text, n text)
ORDER BY k.id
ON CONFLICT (id) DO UPDATE SET
    times = x.times + 1, rejected_at = greatest(x.rejected_at, EXCLUDED.rejected_at),
    item = EXCLUDED.item

-- name: add_attempts
-- rows: [{…columns…}]
INSERT INTO attempts (at, url, domain, site_id, job_id, task_id, worker, proxy_provider, proxy_id,
                      lane, status, outcome, retry, bytes, duration_ms)
SELECT k.at, k.url, k.domain, k.site_id, k.job_id, k.task_id, k.worker, k.proxy_provider,
       k.proxy_id, k.lane, k.status, k.outcome, coalesce(k.retry, 0), k.bytes, k.duration_ms
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(
    at timestamptz, url text, domain text, site_id text, job_id text, task_id text, worker text,
    proxy_provider text, proxy_id text, lane text, status smallint, outcome text, retry smallint,
    bytes bigint, duration_ms integer)

-- name: plan_for_many
-- For statements that compare whole sites, because after a first crawl the server has no statistics
-- of the tables yet, and would compare each row with each.
SET LOCAL enable_nestloop = off;
SET LOCAL work_mem = '64MB';

-- name: find_unseen
-- Products of a site that a crawl did not see, by URL after a given one. A product was seen if it was
-- written by the job or since its start, or is in a sighting. Missing products are excluded.
WITH sighted AS MATERIALIZED (
    SELECT DISTINCT unnest(external_ids) AS external_id FROM sightings
    WHERE site_id = %(site)s AND (seen_at >= %(started)s OR job_id = %(job)s)
)
SELECT p.url, p.external_id, p.name, p.etag, p.last_modified, p.parser
FROM products p LEFT JOIN sighted s USING (external_id)
WHERE p.site_id = %(site)s AND p.gone_at IS NULL AND p.url > %(after)s
  AND coalesce(p.missing_at < %(started)s, true)
  AND s.external_id IS NULL AND NOT coalesce(p.job_id = %(job)s, false)
  AND (p.scraped_at < %(started)s OR p.scraped_at > greatest(now(), %(now)s) + interval '5 minutes')
ORDER BY p.url LIMIT %(limit)s

-- name: count_unseen
-- The numbers of a site's products, of those that a crawl did not see, and of those among these whose
-- own page did not exist since then.
WITH sighted AS MATERIALIZED (
    SELECT DISTINCT unnest(external_ids) AS external_id FROM sightings
    WHERE site_id = %(site)s AND (seen_at >= %(started)s OR job_id = %(job)s)
), unseen AS (
    SELECT p.missing_at FROM products p LEFT JOIN sighted s USING (external_id)
    WHERE p.site_id = %(site)s AND p.gone_at IS NULL
      AND s.external_id IS NULL AND NOT coalesce(p.job_id = %(job)s, false)
      AND (p.scraped_at < %(started)s OR p.scraped_at > greatest(now(), %(now)s) + interval '5 minutes')
)
SELECT (SELECT count(*) FROM products WHERE site_id = %(site)s AND gone_at IS NULL),
       count(*), count(*) FILTER (WHERE missing_at >= %(started)s)
FROM unseen

-- name: mark_gone
WITH sighted AS MATERIALIZED (
    SELECT DISTINCT unnest(external_ids) AS external_id FROM sightings
    WHERE site_id = %(site)s AND (seen_at >= %(started)s OR job_id = %(job)s)
)
UPDATE products p SET gone_at = %(now)s FROM (
    SELECT q.external_id FROM products q LEFT JOIN sighted s USING (external_id)
    WHERE q.site_id = %(site)s AND q.gone_at IS NULL AND q.missing_at >= %(started)s
      AND s.external_id IS NULL AND NOT coalesce(q.job_id = %(job)s, false)
      AND (q.scraped_at < %(started)s OR q.scraped_at > greatest(now(), %(now)s) + interval '5 minutes')
      AND NOT EXISTS (SELECT 1 FROM doubtful d
                      WHERE d.site_id = q.site_id AND d.external_id = q.external_id
                        AND d.field = 'availability' AND d.kind = 'absent'
                        AND d.seen_at >= %(started)s AND d.first_at >= %(started)s)
    ORDER BY q.external_id FOR UPDATE OF q
) k
WHERE p.site_id = %(site)s AND p.external_id = k.external_id

-- name: exchange_urls
-- Give known products their new URLs where a crawl found another known product at the stored one, as
-- after a shop numbered its pages anew. A product whose values are unchanged is not written, so that
-- its row would lead to the other product. The validators are those of the old URL.
UPDATE products p SET url = k.url, item = p.item || jsonb_build_object('url', k.url),
    etag = NULL, last_modified = NULL
FROM (
    SELECT q.external_id, max(own.url) AS url
    FROM products q
    JOIN product_urls taken ON taken.site_id = q.site_id AND taken.url = q.url
        AND taken.external_id <> q.external_id AND taken.first_seen >= %(started)s
    JOIN products other ON other.site_id = q.site_id AND other.external_id = taken.external_id
        AND other.first_seen < %(started)s
    JOIN product_urls own ON own.site_id = q.site_id AND own.external_id = q.external_id
        AND own.first_seen >= %(started)s
    WHERE q.site_id = %(site)s AND q.first_seen < %(started)s AND q.gone_at IS NULL
    GROUP BY q.external_id
) k
WHERE p.site_id = %(site)s AND p.external_id = k.external_id

-- name: is_measured
-- Whether a process has finished this job already.
SELECT EXISTS (SELECT 1 FROM quality WHERE site_id = %(site)s AND job_id = %(job)s
               AND measured_at >= %(started)s)

-- name: forget_sightings
DELETE FROM sightings WHERE seen_at < %(before)s

-- name: measure_products
-- Counts over the products of a site that a crawl saw (without a start: all that are not gone).
WITH sighted AS MATERIALIZED (
    SELECT DISTINCT unnest(external_ids) AS external_id FROM sightings
    WHERE site_id = %(site)s AND (seen_at >= %(since)s OR job_id = %(job)s)
), seen AS (
    SELECT p.* FROM products p LEFT JOIN sighted s USING (external_id)
    WHERE p.site_id = %(site)s AND p.gone_at IS NULL AND (
        %(since)s::timestamptz IS NULL OR p.scraped_at >= %(since)s
        OR coalesce(p.job_id = %(job)s, false) OR s.external_id IS NOT NULL)
)
SELECT count(*) AS products, count(price) AS price,
       count(currency) AS currency, count(availability) AS availability, count(image) AS image,
       count(brand) AS brand, count(*) FILTER (WHERE item ? 'description') AS description,
       count(coalesce(gtin, sku, mpn)) AS identifier,
       count(*) FILTER (WHERE item ? 'breadcrumbs') AS category,
       count(*) FILTER (WHERE price > 0 AND currency IS NOT NULL
           AND (regular_price IS NULL OR regular_price >= price)) AS sane,
       count(item #> '{confidence,price}') AS judged,
       count(*) FILTER (WHERE (item #>> '{confidence,price}')::float8 >= %(sure)s) AS sure
FROM seen

-- name: measure_changes
-- The numbers of changed products, and of prices that rose to ten times or fell to a tenth.
SELECT count(DISTINCT v.external_id),
       count(DISTINCT v.external_id) FILTER (WHERE v.field = 'price'
           AND (v.new #>> '{}')::numeric NOT BETWEEN (v.old #>> '{}')::numeric / 10
                                                 AND (v.old #>> '{}')::numeric * 10)
FROM product_versions v
WHERE v.site_id = %(site)s AND v.changed_at >= coalesce(%(since)s::timestamptz, '-infinity')

-- name: measure_rejected
SELECT count(*) FROM rejected_items
WHERE site_id = %(site)s AND rejected_at >= coalesce(%(since)s::timestamptz, '-infinity')

-- name: measure_doubtful
SELECT count(*) FROM doubtful
WHERE site_id = %(site)s AND seen_at >= coalesce(%(since)s::timestamptz, '-infinity')

-- name: last_quality
SELECT score, coverage FROM quality WHERE site_id = %(site)s ORDER BY measured_at DESC LIMIT 1

-- name: save_quality
INSERT INTO quality (site_id, measured_at, job_id, products, rejected, changed, sane, coverage,
                     score, fall)
VALUES (%(site)s, %(now)s, %(job)s, %(products)s, %(rejected)s, %(changed)s, %(sane)s,
        %(coverage)s::jsonb, %(score)s, %(fall)s)
ON CONFLICT (site_id, measured_at) DO NOTHING

-- name: add_pages
-- rows: [{…columns…}]
INSERT INTO archive (url, at, status, key, start, length, site_id, job_id)
SELECT k.url, k.at, k.status, k.key, k.start, k.length, k.site_id, k.job_id
FROM jsonb_to_recordset(%(rows)s::jsonb) AS k(
    url text, at timestamptz, status smallint, key text, start bigint, length integer,
    site_id text, job_id text)

-- name: find_page
-- The newest stored response of a URL.
SELECT key, start, length FROM archive
WHERE hashtextextended(url, 0) = hashtextextended(%(url)s, 0) AND url = %(url)s
ORDER BY at DESC LIMIT 1

-- name: recrawl_candidates
-- The products of a site that may be due, roughly the worthiest first; the exact order needs an
-- estimate of each product's change rate, which Python computes.
SELECT url, scraped_at, observed_s, price_changes, price_changed_s, etag, last_modified, parser,
       external_id, name, coalesce(item #>> '{breadcrumbs,1}', ''), brand,
       price::double precision, importance, unread_at
FROM (
    -- The items are read only for the selected products, because each is large.
    SELECT *, CASE WHEN asked_at > scraped_at AND gone_at IS NULL THEN asked_at END AS unread_at
    FROM (
        SELECT url, external_id, name, site_id, gone_at, observed_s, price_changes, asked_at, asks,
               price_changed_s, etag, last_modified, parser, item, brand, price, importance,
               CASE WHEN scraped_at > greatest(now(), %(now)s) + interval '5 minutes' THEN to_timestamp(0)
                    -- A look that found no product is a look, or one such product after the other
                    -- would be the next one each day.
                    WHEN gone_at IS NULL THEN greatest(scraped_at, missing_at)
                    ELSE scraped_at END AS scraped_at
        FROM products
    ) AS looked
    WHERE site_id = %(site)s AND scraped_at < %(now)s - make_interval(secs => %(shortest)s)
      -- Gone products are fetched once more, because a shop may lose its pages for an hour.
      AND (gone_at IS NULL OR gone_at BETWEEN %(now)s - make_interval(secs => %(calm)s, days => 1)
                                          AND %(now)s - make_interval(secs => %(calm)s))
      -- After two looks of which nothing came, two days' pause; then twice as long each time.
      AND (gone_at IS NOT NULL OR asked_at IS NULL OR asks < 2 OR asked_at <= scraped_at
           OR asked_at <= %(now)s - interval '1 day' * 2 ^ (least(asks, 6) - 1))
    ORDER BY extract(epoch FROM %(now)s - greatest(scraped_at, asked_at)) * coalesce(importance, 1)
        * (1 / greatest(observed_s, 86400) + 1 / %(calm)s
           + price_changes / greatest(observed_s, 3600)) DESC
    LIMIT %(limit)s
) AS first

-- name: note_asked
-- Note that these products' pages are asked for. ids: external ids; day: since when they count as one
-- look. A row that another writer has locked is being read.
UPDATE products p SET asked_at = %(now)s, asks = CASE
    WHEN p.asked_at IS NULL OR p.asked_at <= greatest(p.scraped_at, p.missing_at) THEN 1
    WHEN p.asked_at >= %(day)s THEN p.asks ELSE least(p.asks + 1, 100) END
FROM (SELECT external_id FROM products WHERE site_id = %(site)s AND external_id = ANY(%(ids)s)
      FOR UPDATE SKIP LOCKED) AS k
WHERE p.site_id = %(site)s AND p.external_id = k.external_id

-- name: change_groups
-- The results of all looks at a site's products, by the first category of each.
SELECT coalesce(item #>> '{breadcrumbs,1}', ''), sum(price_changes), sum(price_changed_s),
       sum(greatest(0, observed_s - price_changed_s))
FROM products WHERE site_id = %(site)s AND gone_at IS NULL
GROUP BY 1 ORDER BY count(*) DESC LIMIT %(limit)s

-- name: set_importance
-- urls: the products' own or further URLs; importance: NULL removes it.
WITH asked AS (
    SELECT u, p.site_id, p.external_id FROM unnest(%(urls)s::text[]) AS u
    JOIN products p ON hashtextextended(p.url, 0) = hashtextextended(u, 0) AND p.url = u
    UNION
    SELECT a.url, a.site_id, a.external_id FROM product_urls a WHERE a.url = ANY(%(urls)s::text[])
), locked AS (
    SELECT p.site_id, p.external_id FROM products p
    JOIN (SELECT DISTINCT site_id, external_id FROM asked) k USING (site_id, external_id)
    ORDER BY p.site_id, p.external_id FOR UPDATE OF p
), done AS (
    UPDATE products p SET importance = %(importance)s FROM locked k
    WHERE p.site_id = k.site_id AND p.external_id = k.external_id
    RETURNING p.site_id, p.external_id
)
SELECT DISTINCT u FROM asked JOIN done USING (site_id, external_id)
