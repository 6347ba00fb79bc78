"""TODO scrapy_seine/engine/download."""
