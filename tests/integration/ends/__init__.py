"""Random faults in the code around a page, and how its lease ends."""
