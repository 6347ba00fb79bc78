"""The ways in which a request can end in Scrapy, each run for real."""
