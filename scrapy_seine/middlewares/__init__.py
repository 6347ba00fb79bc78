"""TODO scrapy_seine/middlewares."""
