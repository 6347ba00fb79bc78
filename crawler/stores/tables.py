"""The names of the tables that a worker writes, and the memory of a row."""

from __future__ import annotations

#: Bytes of memory for a row beside its JSON.
OVERHEAD = 400
PRODUCT, REJECTED, ATTEMPT, PAGE = "products", "rejected", "attempts", "pages"
CONFIRMED, VANISHED, TEMPLATE = "confirmed", "vanished", "templates"
DEAD_END = "dead ends"
