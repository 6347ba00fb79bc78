-- Where each stored page is: object, offset and length of its gzip member.

CREATE TABLE archive (
    url     text NOT NULL,
    at      timestamptz NOT NULL,
    status  smallint NOT NULL,
    key     text NOT NULL,
    start   bigint NOT NULL,
    length  integer NOT NULL,
    site_id text,
    job_id  text
);
CREATE INDEX archive_url ON archive (hashtextextended(url, 0), at);
CREATE INDEX archive_at ON archive (at);
