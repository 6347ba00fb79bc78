"""The item pipelines: clean, validate, dedupe, upsert."""
