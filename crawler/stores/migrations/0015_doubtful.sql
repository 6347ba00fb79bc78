-- Values that contradict what a site did so far are kept apart: the product keeps its last good one.

CREATE TABLE doubtful (
    site_id     text NOT NULL,
    external_id text NOT NULL,
    field       text NOT NULL,
    kind        text NOT NULL,
    reason      text NOT NULL,
    url         text NOT NULL,
    value       jsonb,
    kept        jsonb,
    times       integer NOT NULL DEFAULT 1,
    first_at    timestamptz NOT NULL,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (site_id, external_id, field)
);
CREATE INDEX doubtful_seen ON doubtful (seen_at);
COMMENT ON COLUMN doubtful.field IS 'the product''s field; external_id where another page claims the product''s key';
COMMENT ON COLUMN doubtful.value IS 'what the page at url told; NULL: it told nothing';
COMMENT ON COLUMN doubtful.kept IS 'what the product''s row holds instead';
COMMENT ON COLUMN doubtful.first_at IS 'when this value was first told: told again an hour later, it is believed';

-- What is learned of each make of a site's pages: counts, some KB each.
CREATE TABLE site_templates (
    site_id    text NOT NULL,
    cluster    text NOT NULL,
    version    integer NOT NULL,
    pages      bigint NOT NULL,
    learned    jsonb NOT NULL,
    changed    text,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (site_id, cluster)
);
CREATE INDEX site_templates_updated ON site_templates (updated_at);
COMMENT ON COLUMN site_templates.changed IS 'what changed last in the template, as far as it was noticed';

-- How sure a value is says nothing of the product.
CREATE OR REPLACE FUNCTION seine_note_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO product_versions (site_id, external_id, field, old, new, changed_at, job_id)
    SELECT NEW.site_id, NEW.external_id, coalesce(o.key, n.key), o.value, n.value,
           NEW.scraped_at, NEW.job_id
    FROM jsonb_each(OLD.item) AS o
    FULL JOIN jsonb_each(NEW.item) AS n ON n.key = o.key
    WHERE o.value IS DISTINCT FROM n.value
      AND coalesce(o.key, n.key) NOT IN
          ('url', 'canonical_url', 'site_id', 'external_id', 'job_id', 'scraped_at', 'sources',
           'confidence', 'doubts');
    RETURN NULL;
END $$;
