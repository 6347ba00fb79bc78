"""The engine room of Seine: see crawler.frontier for the life of a request."""
