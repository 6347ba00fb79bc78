"""Which addresses of a page are followed, and which are traps."""
