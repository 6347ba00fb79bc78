"""TODO crawler/catalogue."""
