"""The fast path through Scrapy's engine: one task carries a request from its lease to its end."""
