"""Pure rules that bring an item to its types and say what is wrong with it."""
