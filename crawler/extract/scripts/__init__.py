"""What a page's own scripts hold: the data that they start from."""
