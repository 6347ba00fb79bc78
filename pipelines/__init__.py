"""What happens to an item: clean, validate, dedupe, upsert."""
