"""What brings a worker its first requests: arguments, start requests, and seeds."""
