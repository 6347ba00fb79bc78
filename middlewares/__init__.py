"""The downloader middlewares, one for each concern."""
