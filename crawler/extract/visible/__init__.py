"""What a visitor sees of a product: text, tables of facts, pictures."""
