"""What a worker says of itself: logs, counters, metrics."""
