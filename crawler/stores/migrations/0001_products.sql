-- Products with their history, what was refused and why, and the jobs that asked for them.

CREATE TABLE sites (
    site_id    text PRIMARY KEY,
    name       text,
    domains    text[] NOT NULL DEFAULT '{}',
    options    jsonb  NOT NULL DEFAULT '{}',
    first_seen timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE products (
    site_id       text NOT NULL,
    external_id   text NOT NULL,
    url           text NOT NULL,
    name          text NOT NULL,
    price         numeric,
    regular_price numeric,
    currency      text,
    availability  text,
    brand         text,
    sku           text,
    gtin          text,
    mpn           text,
    rating        double precision,
    review_count  bigint,
    image         text,
    canonical_url text,
    item          jsonb NOT NULL,
    content_hash  bytea NOT NULL,
    job_id        text,
    first_seen    timestamptz NOT NULL,
    scraped_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    gone_at       timestamptz,
    PRIMARY KEY (site_id, external_id)
)
-- Room on each page, so that a refreshed scraped_at stays on it and touches no index.
WITH (fillfactor = 85);
-- Hashed, because a URL may be longer than an index entry.
CREATE INDEX products_url ON products (hashtextextended(url, 0));
CREATE INDEX products_gtin ON products (gtin, site_id) WHERE gtin IS NOT NULL;

COMMENT ON COLUMN products.content_hash IS 'digest of the fields that a visitor sees';
COMMENT ON COLUMN products.scraped_at IS 'when the page was last parsed; refreshed once per freshness window';
COMMENT ON COLUMN products.updated_at IS 'when the content last changed';
COMMENT ON COLUMN products.gone_at IS 'first complete crawl that did not see it; NULL while it is there';

-- One row for each field that changed. The first sight of a product is no change.
CREATE TABLE product_versions (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site_id     text NOT NULL,
    external_id text NOT NULL,
    field       text NOT NULL,
    old         jsonb,
    new         jsonb,
    changed_at  timestamptz NOT NULL,
    job_id      text
);
CREATE INDEX product_versions_product ON product_versions (site_id, external_id, changed_at);
CREATE INDEX product_versions_price ON product_versions (changed_at) WHERE field = 'price';

-- Compares in the database, under the row's lock: no two writers can miss or double a change.
CREATE FUNCTION seine_note_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO product_versions (site_id, external_id, field, old, new, changed_at, job_id)
    SELECT NEW.site_id, NEW.external_id, coalesce(o.key, n.key), o.value, n.value,
           NEW.scraped_at, NEW.job_id
    FROM jsonb_each(OLD.item) AS o
    FULL JOIN jsonb_each(NEW.item) AS n ON n.key = o.key
    WHERE o.value IS DISTINCT FROM n.value
      AND coalesce(o.key, n.key) NOT IN
          ('url', 'canonical_url', 'site_id', 'external_id', 'job_id', 'scraped_at', 'sources');
    RETURN NULL;
END $$;
CREATE TRIGGER products_note_changes AFTER UPDATE ON products FOR EACH ROW
    WHEN (OLD.content_hash IS DISTINCT FROM NEW.content_hash)
    EXECUTE FUNCTION seine_note_changes();

-- Further addresses of a product: pages that turned out to show one that is known already.
CREATE TABLE product_urls (
    site_id     text NOT NULL,
    url         text NOT NULL,
    external_id text NOT NULL,
    first_seen  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, url)
);
CREATE INDEX product_urls_product ON product_urls (site_id, external_id);

-- Seen, unchanged and still fresh: not rewritten, yet not gone. One row a batch.
CREATE TABLE sightings (
    site_id      text NOT NULL,
    seen_at      timestamptz NOT NULL,
    external_ids text[] NOT NULL
);
CREATE INDEX sightings_site ON sightings (site_id, seen_at);

CREATE TABLE rejected_items (
    id          uuid PRIMARY KEY,
    site_id     text,
    job_id      text,
    url         text,
    reason      text NOT NULL,
    item        jsonb NOT NULL,
    times       integer NOT NULL DEFAULT 1,
    first_at    timestamptz NOT NULL,
    rejected_at timestamptz NOT NULL
);
CREATE INDEX rejected_items_at ON rejected_items (rejected_at);
COMMENT ON COLUMN rejected_items.id IS 'digest of job, url and reason: a page tried again is one row';

CREATE TABLE jobs (
    job_id      text PRIMARY KEY,
    crawl       text NOT NULL,
    site_id     text,
    kind        text NOT NULL DEFAULT 'full',
    state       text NOT NULL DEFAULT 'new',
    total       bigint NOT NULL DEFAULT 0,
    done        bigint NOT NULL DEFAULT 0,
    failed      bigint NOT NULL DEFAULT 0,
    params      jsonb NOT NULL DEFAULT '{}',
    note        text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    started_at  timestamptz,
    finished_at timestamptz
);
CREATE INDEX jobs_site ON jobs (site_id, created_at);
