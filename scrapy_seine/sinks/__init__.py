"""When an item is durable: holds for any pipeline, and the sinks that take them.

A page's lease ends, and its links enter the frontier, only when each hold on the page is released
(I3, I4). `holds` is the public part, `feeds` writes files, `jsonb` writes rows to PostgreSQL.
"""
