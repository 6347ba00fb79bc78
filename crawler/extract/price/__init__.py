"""Choose the product's price among the amounts of a page."""
