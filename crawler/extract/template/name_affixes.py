"""Affixes: words that a changed template adds before or after names, and that are removed."""

from __future__ import annotations

#: The texts before and after a name.
Affix = tuple[str, str]


def affix_of(page_name: str, stored_name: str) -> Affix | None:
    """Return the text before and after the stored name in a page's; None if that is another name.

    Both names are case-folded.

    >>> affix_of("sale: lamp", "lamp"), affix_of("sale: lamp", "sofa")
    (('sale: ', ''), None)
    """
    before, name, behind = page_name.partition(stored_name)
    return (before, behind) if name else None


def without_affix(name: str, affix: Affix) -> str:
    """Return a name without the affix, or unchanged if it lacks the affix or consists of it.

    >>> without_affix("SALE: Lamp", ("sale: ", "")), without_affix("Lamp", ("sale: ", ""))
    ('Lamp', 'Lamp')
    """
    before, behind = affix
    folded = name.casefold()
    if len(folded) != len(name) or not (folded.startswith(before) and folded.endswith(behind)):
        return name
    return name[len(before) : len(name) - len(behind)].strip() or name
