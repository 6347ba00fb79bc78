"""What Seine is measured against; each reads pages with Seine's own parser, for equal results."""
