"""The coordinator: decides what is to be fetched again, and fetches nothing itself.

It starts full crawls when their time has come, has sitemaps looked at in between, sends known
products again by their age and by how often they change, and closes jobs that are complete. All it
does is push requests, so that workers fetch them under the frontier's politeness. One is active,
any number stand by; each step can be done twice, so that a new one simply goes on.
"""
