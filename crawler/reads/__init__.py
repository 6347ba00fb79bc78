"""Operations: what the fleet does, read for the dashboard, the terminal and Prometheus alike.

Reading costs the same whatever the size of the crawl: counters, cardinalities and the heads of
sorted sets, never a walk through queues.
"""
