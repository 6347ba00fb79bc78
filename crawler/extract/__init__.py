"""Finding products and links in any page: pure functions."""
