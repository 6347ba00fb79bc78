"""Access, with real stores, proxies and sites."""
