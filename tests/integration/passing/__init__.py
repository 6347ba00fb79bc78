"""What a user's code sees of Scrapy's engine and of the short way through it."""
