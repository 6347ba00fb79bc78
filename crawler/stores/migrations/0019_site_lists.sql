-- A site's list in its usual order. Along products_changed, a site that was crawled before others
-- was found after all that changed since: 9,700 pages of the index at a million products, now 9.

CREATE INDEX products_site_changed ON products (site_id, updated_at, external_id);
