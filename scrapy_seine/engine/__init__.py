"""Scrapy's slots, filled: scheduler, dupefilter, in-flight table, seeds."""
