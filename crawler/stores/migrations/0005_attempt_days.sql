-- A day whose rows are in attempts_other already stays there; those rows are dropped in time too.

CREATE OR REPLACE FUNCTION seine_attempt_days(ahead integer, keep integer) RETURNS integer
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
            BEGIN
                EXECUTE format(
                    'CREATE TABLE %I PARTITION OF attempts FOR VALUES FROM (%L) TO (%L)',
                    part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
                made := made + 1;
            EXCEPTION WHEN check_violation THEN
                NULL;
            END;
        END IF;
    END LOOP;
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'attempts'::regclass AND c.relname ~ '^attempts_[0-9]{8}$'
          AND to_date(right(c.relname, 8), 'YYYYMMDD') < today - keep
    LOOP
        EXECUTE format('DROP TABLE %I', part);
    END LOOP;
    DELETE FROM attempts_other WHERE at < (today - keep)::timestamp AT TIME ZONE 'UTC';
    RETURN made;
END $$;
