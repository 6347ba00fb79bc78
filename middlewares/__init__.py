"""What happens to a request and its response, one small middleware a concern."""
