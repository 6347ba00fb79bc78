"""Find the number of a listing's pages, and their addresses."""
