"""Amounts of money as shops write them, and their currencies."""
