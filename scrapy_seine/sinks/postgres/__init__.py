"""Items into PostgreSQL; needs `pip install scrapy-seine[postgres]`.

`writer` is one thread a process that writes rows in batches until they are committed, `sqlstates`
says who is to blame for a row that is refused, `pipeline` stores items of any kind as JSONB. The
only modules of the library that know psycopg2 (see the import contracts in pyproject.toml); they
are imported where a project names the pipeline.
"""
