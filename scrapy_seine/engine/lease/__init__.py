"""A lease in its worker: in flight, outcome stated, ended."""
