-- When a known product's page was asked for by itself. One that nothing came of, as an error or a page
-- that cannot be read, was due again each day, and first by its age.

ALTER TABLE products ADD COLUMN asked_at timestamptz, ADD COLUMN asks smallint;
COMMENT ON COLUMN products.asked_at IS 'when a re-crawl last asked for its page';
COMMENT ON COLUMN products.asks IS 'how often it did so since the page was last read';
