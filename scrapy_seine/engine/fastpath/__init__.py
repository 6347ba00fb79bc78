"""TODO scrapy_seine/engine/fastpath."""
