"""One `scrapy <command>` a file."""
