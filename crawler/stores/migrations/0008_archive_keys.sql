-- Whether an object is in the index is asked once an object.
CREATE INDEX archive_key ON archive (key);
