"""Finds callbacks whose requests lead to each other: a list's page to its pager's, and back."""

from __future__ import annotations

from collections.abc import Mapping, Set


def rings(leads: Mapping[str, Set[str]]) -> dict[str, set[str]]:
    """Return for each callback the others that its requests lead to, directly or not, and back.

    >>> rings({"parse": {"list"}, "list": {"pager", "item"}, "pager": {"list"}, "item": set()})
    {'parse': set(), 'list': {'pager'}, 'pager': {'list'}, 'item': set()}
    """
    ends = {name: _ends(name, leads) for name in leads}
    return {
        name: {other for other in others if other != name and name in ends.get(other, ())}
        for name, others in ends.items()
    }


def _ends(name: str, leads: Mapping[str, Set[str]]) -> set[str]:
    found: set[str] = set()
    to_visit = [name]
    while to_visit:
        further = leads.get(to_visit.pop(), set()) - found
        found |= further
        to_visit += further
    return found
