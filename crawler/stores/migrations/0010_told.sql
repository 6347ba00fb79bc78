-- Changes that a sitemap announced say nothing of how often others go unnoticed.

ALTER TABLE products ADD COLUMN told boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN products.told IS 'the last change was found because something announced it, a sitemap say';
COMMENT ON COLUMN products.changed_after IS 'of these, the seconds before each unannounced look that found a change; the newest 16';
