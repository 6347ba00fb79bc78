"""Encodes requests for the frontier, and decodes them for Scrapy."""
