-- What the data of a site was worth after a crawl: see crawler/stores/quality.py for the formula.

CREATE TABLE quality (
    site_id     text NOT NULL,
    measured_at timestamptz NOT NULL,
    job_id      text,
    products    bigint NOT NULL,
    rejected    bigint NOT NULL,
    changed     bigint NOT NULL,
    sane        double precision NOT NULL,
    coverage    jsonb NOT NULL,
    score       double precision NOT NULL,
    fall        text,
    PRIMARY KEY (site_id, measured_at)
);
COMMENT ON COLUMN quality.score IS '0 to 1';
COMMENT ON COLUMN quality.fall IS 'what fell against the crawl before; NULL: nothing did';

-- Scores as they stand: one row a site.
CREATE VIEW current_quality AS
SELECT DISTINCT ON (site_id) * FROM quality ORDER BY site_id, measured_at DESC;
