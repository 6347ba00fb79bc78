"""Which of a page's amounts is the product's price."""
