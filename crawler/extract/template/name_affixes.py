"""Affixes: words that a changed template adds before or after all names, and that are removed."""

from __future__ import annotations

from collections.abc import Iterable

#: The texts before and after a name.
Affix = tuple[str, str]


def common_affix(names: Iterable[tuple[str, str]]) -> Affix | None:
    """Return the text before and after the stored name in all pages' names; None if it differs.

    *names* are pairs of a page's and a stored name, both case-folded.

    >>> common_affix([("sale: lamp", "lamp"), ("sale: sofa", "sofa")])
    ('sale: ', '')
    >>> common_affix([("sale: lamp", "lamp"), ("new: sofa", "sofa")])
    """
    affixes = set()
    for page_name, stored_name in names:
        before, name, behind = page_name.partition(stored_name)
        affixes.add((before, behind) if name else None)
    return affixes.pop() if len(affixes) == 1 else None


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
