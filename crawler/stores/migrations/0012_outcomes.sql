-- What became of a job's requests: pages read, ignored by a rule, failed, cancelled.

ALTER TABLE jobs
    ADD COLUMN ignored bigint NOT NULL DEFAULT 0,
    ADD COLUMN cancelled bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN jobs.ignored IS 'requests whose pages a named rule says are not to be read';
COMMENT ON COLUMN jobs.cancelled IS 'requests that an operator took out of the crawl';
