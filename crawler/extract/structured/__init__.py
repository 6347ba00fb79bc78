"""What a page says in the words of schema.org and OpenGraph."""
