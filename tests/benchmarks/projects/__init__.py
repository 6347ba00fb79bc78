"""Small projects of other people's style, plain and with the add-on's one line: the same items."""
