"""Drift: a change of a template, and the text that reports it."""

from __future__ import annotations

import attrs

from crawler.extract.template.mass_changes import CHANGED
from scrapy_seine.attrs_bases import Value

#: The texts of changes that do not only make a field doubtful, by kind.
_DESCRIPTIONS = {
    "believed": "{} changed on all pages, and is believed since",
    "moved": "the template changed, {} is read from its new place since",
    "mended": "the template changed, {} is completed since",
    "layout": "the template changed, {} stands elsewhere since",
    "cents": "structured data gives the {} in cents, see",
    "constant": "each {} is the same, see",
    "disagree": "two sources never agree on the {}, see",
    CHANGED: "the {} of all known products changed at once, and is doubtful",
    "affix": "the {} has the same words beside it on many pages, which are left out",
    "source": "the template changed, {} is read from another source since",
    "others": "structured data of another product are left out, by their {}:",
    "minor": "the {} of all known products changed at once, see",
    "run": "product after product has another {} than before, which may be a delivery, see",
    "turned": "the {} is not the one of the pages before and is doubtful, see",
}


@attrs.frozen(eq=False, repr=False)
class Drift(Value):
    """A change of a template."""

    site_id: str
    field: str
    kind: str
    reason: str
    url: str
    """The page on which it was noticed."""
    version: int

    @property
    def description(self) -> str:
        """The change as text."""
        words = _DESCRIPTIONS.get(self.kind, "the template changed, {} is doubtful since")
        return words.format(self.field)
