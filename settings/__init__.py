"""Plain Scrapy settings; they import nothing of ours."""
