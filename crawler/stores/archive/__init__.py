"""The archive of pages: written in batches as WARC objects, found by an index, and read again."""
