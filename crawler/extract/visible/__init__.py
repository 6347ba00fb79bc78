"""Read the visible parts of a product's page: text, tables of facts, pictures."""
