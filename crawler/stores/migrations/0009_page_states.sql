-- What a later visit of a product's page needs: the validators of the answer that the row was read
-- from, and how often the page was found changed.

ALTER TABLE products
    ADD COLUMN etag          text,
    ADD COLUMN last_modified text,
    ADD COLUMN parser        text,
    ADD COLUMN observed_s    double precision NOT NULL DEFAULT 0,
    ADD COLUMN changed_after real[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN products.etag IS 'entity tag of the answer at url that was parsed into this row';
COMMENT ON COLUMN products.last_modified IS 'its Last-Modified, where that can be relied on';
COMMENT ON COLUMN products.parser IS 'version of the parser that read it: another one must see the page itself';
COMMENT ON COLUMN products.observed_s IS 'seconds between looks at the product, added up';
COMMENT ON COLUMN products.changed_after IS 'of these, the seconds that each look at the end of which it had changed came after the one before; the newest 16';
COMMENT ON COLUMN products.scraped_at IS 'when the page was last parsed, or its site said that it is unchanged (304); refreshed once per freshness window';

-- Kept looks of a product after a change: with the newest 16, and no older time than belongs to them.
CREATE FUNCTION seine_changed_after(before real[], seconds double precision) RETURNS real[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT (before || seconds::real)[greatest(1, cardinality(before) - 14):]
$$;
