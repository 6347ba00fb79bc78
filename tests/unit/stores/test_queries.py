"""The file of statements holds statements only, each under a name of its own."""

import re
from importlib import resources

from crawler.stores.queries import query

TEXT = (resources.files("crawler.stores") / "queries.sql").read_text("utf-8")
NAMES = re.findall(r"^-- name: (\w+)$", TEXT, re.MULTILINE)


def test_each_name_is_given_once() -> None:
    assert len(NAMES) == len(set(NAMES)) > 10


def test_each_statement_begins_like_one() -> None:
    for name in NAMES:
        first = re.sub(r"^\s*--.*$", "", query(name), flags=re.MULTILINE).split()[0]
        assert first in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SET"}, name


def test_no_merge_left_its_marks() -> None:
    assert not re.findall(r"^(?:<{7}|={7}|>{7})", TEXT, re.MULTILINE)
