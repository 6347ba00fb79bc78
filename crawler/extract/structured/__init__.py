"""Readers of structured data: schema.org in JSON-LD, microdata and RDFa, and OpenGraph."""
