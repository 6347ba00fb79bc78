"""One file a site; `spiders/which_site.py` finds the one that an address is read by."""
