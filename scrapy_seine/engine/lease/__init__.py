"""A lease while its worker has it: in flight, stated, ended."""
