"""TODO scrapy_seine/commands."""
