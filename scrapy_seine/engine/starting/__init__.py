"""The sources of a worker's first requests: arguments, start requests, and seeds."""
