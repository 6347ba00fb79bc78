"""TODO scrapy_seine."""
