"""One file a site, found by host name."""
