"""Requests as the frontier stores them, and as Scrapy sees them again."""
