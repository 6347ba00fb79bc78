"""Limits on reading a page: CPU, memory, time, and the pages that killed a worker."""
