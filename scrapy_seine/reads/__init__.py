"""TODO scrapy_seine/reads."""
