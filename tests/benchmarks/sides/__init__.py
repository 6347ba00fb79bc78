"""What Seine is measured against.

`plain` and `scrapy_redis` read pages with Seine's own parser, so that all else is compared. The
others read the same fields by the means of their tutorials, and use nothing of Seine's.
"""
