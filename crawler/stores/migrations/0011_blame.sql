-- What PostgreSQL had against a row; when a product's own page last showed no product; the ids of
-- the frontiers that crawls ran on.

ALTER TABLE rejected_items ADD COLUMN code text, ADD COLUMN constraint_name text;
COMMENT ON COLUMN rejected_items.code IS 'SQLSTATE, where PostgreSQL refused the row';
COMMENT ON COLUMN rejected_items.constraint_name IS 'the constraint that it violated, if one has a name';

ALTER TABLE products ADD COLUMN missing_at timestamptz;
COMMENT ON COLUMN products.missing_at IS 'when its own page last answered 404 or 410, or showed no product';
COMMENT ON COLUMN products.gone_at IS 'when its own page was found gone, by a request for it alone or at the end of a complete crawl; NULL while it is there';
COMMENT ON COLUMN products.scraped_at IS 'when the page was answered, by the frontier''s clock, or its site said that it is unchanged (304); refreshed once per freshness window';

CREATE TABLE crawls (
    crawl       text PRIMARY KEY,
    frontier_id text NOT NULL,
    since       timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN crawls.frontier_id IS 'random id of the frontier in Redis: another one means that the crawl''s state was lost';

-- Times of workers whose clock was ahead: whatever came later was older than these.
UPDATE products SET scraped_at = now(), updated_at = least(updated_at, now()),
    first_seen = least(first_seen, now())
WHERE scraped_at > now() + interval '5 minutes';
