"""Jobs: a named piece of work on one site, counted request by request inside the frontier.

A request carries its job's id; the scripts that move the request count for the job: `total` when it
is pushed, `done`, `ignored` or `cancelled` with its commit, `failed` when it is buried. So a job's
counters always agree with the frontier, even if processes are killed. Each job has its own set of
seen URLs, so that a new job fetches them again.
"""
