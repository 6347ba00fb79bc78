"""Items into PostgreSQL; needs `pip install scrapy-seine[postgres]`.

`writer` is one thread per process that writes rows in batches until they are committed, `sqlstates`
decides who is to blame for a refused row, `pipeline` stores items of any kind as JSONB. These are
the only modules of the library that import psycopg2 (see the import contracts in pyproject.toml);
they are imported if a project uses the pipeline.
"""
