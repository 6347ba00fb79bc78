"""Limits on parsing a page: CPU, memory, time, and pages that killed a worker."""
