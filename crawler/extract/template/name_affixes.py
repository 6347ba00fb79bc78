"""Affixes: words that all names of a template have before or behind them since a change, which are left out."""

from __future__ import annotations

from collections.abc import Iterable

#: What stands before a name and behind it.
Affix = tuple[str, str]


def common_affix(names: Iterable[tuple[str, str]]) -> Affix | None:
    """What stands before and behind the stored name in each name that is read; None where that differs.

    *names* are pairs of a read and a stored name, both case-folded.

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
    """A name without the affix; the name as it is where it lacks it, or is nothing else.

    >>> without_affix("SALE: Lamp", ("sale: ", "")), without_affix("Lamp", ("sale: ", ""))
    ('Lamp', 'Lamp')
    """
    before, behind = affix
    folded = name.casefold()
    if len(folded) != len(name) or not (folded.startswith(before) and folded.endswith(behind)):
        return name
    return name[len(before) : len(name) - len(behind)].strip() or name
