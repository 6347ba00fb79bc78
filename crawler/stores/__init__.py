"""Redis, PostgreSQL, objects: how they are reached and, on a laptop, started."""
