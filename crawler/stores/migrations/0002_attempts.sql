-- The log of attempts, one partition a day (UTC), made ahead and dropped when its time is over.

CREATE TABLE attempts (
    at             timestamptz NOT NULL,
    url            text NOT NULL,
    domain         text,
    site_id        text,
    job_id         text,
    task_id        text,
    worker         text,
    proxy_provider text,
    proxy_id       text,
    lane           text,
    status         smallint,
    outcome        text NOT NULL,
    retry          smallint NOT NULL DEFAULT 0,
    bytes          bigint,
    duration_ms    integer
) PARTITION BY RANGE (at);
CREATE INDEX attempts_domain_at ON attempts (domain, at);
-- Rows outside the days that exist must not stop a writer.
CREATE TABLE attempts_other PARTITION OF attempts DEFAULT;

-- Make partitions from yesterday to *ahead* days from now; drop those older than *keep* days.
CREATE FUNCTION seine_attempt_days(ahead integer, keep integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    day   date;
    part  text;
    made  integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(7366450, 2);
    FOR day IN SELECT generate_series(today - 1, today + ahead, interval '1 day')::date LOOP
        part := 'attempts_' || to_char(day, 'YYYYMMDD');
        IF to_regclass(part) IS NULL THEN
            EXECUTE format('CREATE TABLE %I PARTITION OF attempts FOR VALUES FROM (%L) TO (%L)',
                part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
            made := made + 1;
        END IF;
    END LOOP;
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'attempts'::regclass AND c.relname ~ '^attempts_[0-9]{8}$'
          AND to_date(right(c.relname, 8), 'YYYYMMDD') < today - keep
    LOOP
        EXECUTE format('DROP TABLE %I', part);
    END LOOP;
    RETURN made;
END $$;
