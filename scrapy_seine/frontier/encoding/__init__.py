"""Requests, verbs and replies as bytes: written, signed, and read without trusting them (I9)."""
