"""What a worker reports about itself: logs, counters, metrics."""
