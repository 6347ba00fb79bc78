"""The demo shop, and the demo that crawls it."""
