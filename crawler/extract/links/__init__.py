"""Choose which addresses of a page are followed, and skip crawler traps."""
