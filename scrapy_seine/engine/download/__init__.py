"""How a request reaches a site: lanes, the gate that keeps its time, and the own HTTP client."""
