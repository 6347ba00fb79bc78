"""The names of what a worker writes, and what a row weighs."""

from __future__ import annotations

#: What a row weighs beside its JSON.
OVERHEAD = 400
PRODUCT, REJECTED, ATTEMPT, PAGE = "products", "rejected", "attempts", "pages"
CONFIRMED, VANISHED, TEMPLATE = "confirmed", "vanished", "templates"
DEAD_END = "dead ends"
