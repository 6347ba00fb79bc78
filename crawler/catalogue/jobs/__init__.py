"""Jobs: a named piece of work on one site, counted request by request inside the frontier.

A request carries its job's id; the scripts that move it count for the job: `total` when it enters,
`done` with its page's commit, `ignored` or `cancelled` where that says so, `failed` when it is
buried. So a job's numbers cannot drift from the frontier's, whoever is killed. Each job remembers
seen URLs apart: a new one fetches them again.
"""
