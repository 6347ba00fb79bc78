"""How a request reaches a site: lanes, the gate that keeps its slot, and the own HTTP client."""
