"""What is wrong with a set-up: judged for `scrapy doctor`, and in part for each worker's start."""
