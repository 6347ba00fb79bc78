"""The coordinator decides which pages are fetched again.

It starts full crawls by their schedule, has sitemaps read in between, re-crawls known products by
their age and rate of change, and closes complete jobs. It only pushes requests, so that workers
fetch them under the frontier's politeness. One coordinator leads, any number stand by; each step is
idempotent, so that a new leader can continue.
"""
