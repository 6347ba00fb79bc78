-- Shapes of addresses whose pages led nowhere, as workers found them: for people, each worker learns
-- its own.
CREATE TABLE dead_ends (
    shape      text PRIMARY KEY,
    site_id    text NOT NULL,
    pages      integer NOT NULL,
    noticed_at timestamptz NOT NULL
);
COMMENT ON COLUMN dead_ends.shape IS 'host and path with * for what differs from page to page, and the names of the query';
COMMENT ON COLUMN dead_ends.pages IS 'how many pages led to nothing before further ones were left out';

-- Doubtful values that an operator believes.
CREATE TABLE accepted_doubts (
    site_id text NOT NULL,
    field   text NOT NULL,
    until   timestamptz NOT NULL,
    PRIMARY KEY (site_id, field)
);
