"""A site that writes down each arrival, and crawls of it by real Scrapy processes."""
