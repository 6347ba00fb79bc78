"""The pool of browser contexts: which one a page gets, and when one is closed. Pure.

A context belongs to one visitor and takes a limited number of pages. A new context of the same
visitor may open while the last pages of the old one are still open.
"""

from __future__ import annotations

import attrs

from scrapy_seine.attrs_bases import Record


@attrs.define(eq=False, repr=False)
class BrowserContext(Record):
    """One context."""

    name: str
    visitor: str
    acquired_pages: int = 0
    """Pages that it was given."""
    pages: int = 0
    """Pages that are open."""
    last_acquisition: int = 0
    """Number of its last acquisition in the pool."""
    spoiled: bool = False
    """A page failed in it; it gets no more pages."""


@attrs.define(eq=False, repr=False)
class ContextPool(Record):
    """The contexts of one browser."""

    limit: int
    """Most contexts at a time."""
    max_pages: int
    """Most pages that a context is given."""
    contexts: dict[str, BrowserContext] = attrs.Factory(dict)
    _acquisitions: int = 0

    def acquire(self, visitor: str) -> BrowserContext | None:
        """Acquire the visitor's context, a new one if there is space; None: wait for a release."""
        self._acquisitions += 1
        own_contexts = (context for context in self.contexts.values() if context.visitor == visitor)
        context = next(filter(self.has_room, own_contexts), None)
        if context is None:
            if len(self.contexts) >= self.limit:
                return None
            context = BrowserContext(f"{visitor}#{self._acquisitions}", visitor)
            self.contexts[context.name] = context
        context.acquired_pages += 1
        context.pages += 1
        context.last_acquisition = self._acquisitions
        return context

    def has_room(self, context: BrowserContext) -> bool:
        """Whether the context may get one more page."""
        return not context.spoiled and context.acquired_pages < self.max_pages

    def release(self, context: BrowserContext, *, spoiled: bool = False) -> bool:
        """Release the context of a closed page; True: it is empty and used up, so close it."""
        context.pages -= 1
        context.spoiled = context.spoiled or spoiled
        return context.pages == 0 and not self.has_room(context)

    def idle(self) -> BrowserContext | None:
        """Return the context without pages that was acquired longest ago."""
        idle_contexts = [candidate for candidate in self.contexts.values() if candidate.pages == 0]
        return min(idle_contexts, key=lambda candidate: candidate.last_acquisition, default=None)
