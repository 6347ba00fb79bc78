"""A crawl with a Scrapy that lacks private names."""
