"""Read the availability of a product from structured data and visible text."""
