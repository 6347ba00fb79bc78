"""Proxies: the operator's list, who may use which one for which domain, and whether they work."""
