"""A line that is passed over tells nothing: what is remembered of a text never costs a value."""

from __future__ import annotations

from collections import defaultdict

import pytest

from crawler.extract import extract, parse
from crawler.extract.stock import shown
from crawler.extract.visible import facts
from tests.pages import cases


def _body(body: bytes, stripped: bool) -> bytes:
    return body.replace(b"ld+json", b"x").replace(b"itemprop", b"x") if stripped else body


@pytest.mark.parametrize("stripped", [False, True])
def test_a_page_reads_alike_where_every_line_is_asked(
    monkeypatch: pytest.MonkeyPatch, stripped: bool
) -> None:
    def read() -> dict[str, object]:
        found = {
            case.name: extract(parse(_body(case.body, stripped), case.url, case.content_type))
            for case in cases()
        }
        return {name: (page.verdict, page.offered) for name, page in found.items()}

    usual = read()
    monkeypatch.setattr(shown, "_NAMES_NO_STOCK", defaultdict(bool))
    monkeypatch.setattr(facts, "_HAS_NO_FACT", defaultdict(bool))
    asked = read()

    assert usual.keys() == asked.keys()
    different = [name for name in usual if usual[name] != asked[name]]
    assert not different
