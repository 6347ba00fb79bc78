"""Access to pages: verdicts on responses, identities, proxies and the ladder of lanes."""
