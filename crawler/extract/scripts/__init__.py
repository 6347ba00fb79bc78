"""Readers of a page's scripts: the state of its application, and calls of trackers."""
