"""Crawls of a small tree of pages, whose workers may be killed, and what they leave in files."""
