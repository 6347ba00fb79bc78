"""Read-only views of the fleet, for the dashboard, the terminal and Prometheus.

A read costs the same at any size of the crawl, because it takes counters, cardinalities and the
heads of sorted sets; it never scans a queue.
"""
