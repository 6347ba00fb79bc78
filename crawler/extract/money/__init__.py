"""Parsers of amounts of money as shops write them, and of their currencies."""
