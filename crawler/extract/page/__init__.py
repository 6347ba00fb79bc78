"""A page as one parsed tree, and as the lines that a visitor reads."""
