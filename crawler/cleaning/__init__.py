"""Pure rules that convert an item's values to their types, and reject bad items."""
