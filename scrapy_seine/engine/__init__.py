"""Scrapy's slots, filled: scheduler, dupefilter, ledger, seeds."""
