"""A crawl in several partitions: the same frontier, split by domain over several servers."""
