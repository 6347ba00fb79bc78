"""One module a page: read, then lay out."""
