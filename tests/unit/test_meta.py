"""I9: a seed sets what the table lets it set, and a stored request holds what its keys may have."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine import meta as m
from scrapy_seine.errors import BadMeta

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("delay", "x", "meta.delay is 'x', not a number from 0 to 31622400"),
        ("delay", math.nan, "meta.delay is nan, not a number"),
        ("delay", 1e308, "meta.delay is 1e+308, not a number"),
        ("delay", True, "meta.delay is True, not a number"),
        ("not_before", "soon", "meta.not_before is 'soon', not a number"),
        ("not_before", 1_800_000_000_000, "not a number"),
        ("borrowed_headers", 5, "meta.borrowed_headers is 5, but only the engine may set it"),
        ("download_timeout", "30", "meta.download_timeout is '30', not a number"),
        ("lane", "tsl", "meta.lane is 'tsl', not one of plain, tls, browser, replay"),
        ("max_retries", "three", "meta.max_retries is 'three', not a whole number"),
        ("handle_httpstatus_list", [404, "x"], "not a list of statuses"),
        ("seine_home", "10.0.0.1:80", "only the engine may set it"),
        ("bindaddress", "127.0.0.1", "only the engine and spiders may set it"),
        ("playwright_page_init_callback", "os.system", "only the engine and spiders"),
        ("playwright_anything", 1, "only the engine and spiders"),
        ("_auth_proxy", "x", "only the engine"),
        ("_own", "x", "a middleware's own key"),
        ("site_id", "a\x1b[31m", "not a text of one line"),
    ],
)
def test_a_seed_is_told_which_key_and_which_value_is_wrong(key: str, value: Any, told: str) -> None:
    with pytest.raises(BadMeta) as caught:
        m.check({"url": "own", key: value}, m.SEED)
    assert told in str(caught.value)


def test_a_wrong_proxy_is_not_shown_because_it_may_hold_a_password() -> None:
    with pytest.raises(BadMeta) as caught:
        m.check({"proxy": "gopher://me:secret@proxy"}, m.SEED)
    assert "secret" not in str(caught.value)


def test_a_users_own_keys_are_left_alone() -> None:
    m.check({"page": {"n": [1, None]}, "label": "x", "rule": 3, 7: "seven"}, m.SEED)


@given(st.dictionaries(st.sampled_from(sorted(m.TABLE)) | st.text(), JSON))
def test_no_meta_raises_anything_but_its_reason(meta: dict[str, Any]) -> None:
    told: list[str] = []
    for who in ("seed", "spider", "engine"):
        try:
            m.check(meta, who)  # type: ignore[arg-type]
        except BadMeta as error:
            told.append(str(error))
    assert all(text.startswith("meta.") and len(text) < 1000 for text in told)
    try:
        kept = m.storable(dict(meta))
    except BadMeta:
        return
    assert set(kept) == set(meta) - m.LOCAL


def test_what_does_not_travel_is_not_believed_where_it_is_stored() -> None:
    assert m.storable({"depth": 1, "instead_of": 5, "own": 2, "proxy_lease": "x"}) == {
        "depth": 1,
        "own": 2,
    }


@pytest.mark.parametrize("value", [1e308, "1e308", ("127.0.0.1", 1e308), ("::1", -1), "a b", {}])
def test_an_address_to_send_from_is_one(value: object) -> None:
    with pytest.raises(BadMeta, match=r"meta\.bindaddress is .* not an IP address"):
        m.check({"bindaddress": value}, "spider")


@pytest.mark.parametrize("value", [None, "127.0.0.1", "::1", ("10.0.0.1", 0), ["10.0.0.1", 4000]])
def test_an_address_to_send_from_passes(value: object) -> None:
    m.check({"bindaddress": value}, "spider")


_FORKING = r"""
import os, random
from scrapy_seine import meta
def name():
    random.seed(7)  # as spiders do that want the same order each time
    made = {}
    meta.complete(made, None)
    return made["task_id"]
first, child = name(), os.fork()
os.write(1, f"{first} {name()}\n".encode())  # in one go: two processes write here
if child:
    os.waitpid(child, 0)
"""


def test_tasks_of_forked_processes_have_names_of_their_own() -> None:
    told = subprocess.run([sys.executable, "-c", _FORKING], capture_output=True, check=True)
    (first, one), (same, other) = [line.split() for line in told.stdout.decode().splitlines()]
    assert first == same
    assert len({first, one, other}) == 3
    assert {len(name) for name in (first, one, other)} == {32}


def test_a_project_counts_in_retry_count_without_end_of_its_own() -> None:
    """A callback asks for its page again, up to three times: the count reaches the next page."""
    page: dict[str, Any] = {}
    m.complete(page, None)
    for n in range(1, 4):
        again = {**page, "retry_count": page.get("retry_count", 0) + 1}
        m.complete(again, page)
        assert m.storable(again)["retry_count"] == n
        page = again


def test_a_count_that_a_callback_raised_in_the_page_itself_is_kept() -> None:
    page: dict[str, Any] = {}
    m.complete(page, None)
    page["retry_count"] = 1
    again = dict(page)
    m.complete(again, page, 0)
    assert again["retry_count"] == 1


@pytest.mark.parametrize("tries", [2, 3])
def test_what_the_engine_counted_for_a_page_is_not_its_links(tries: int) -> None:
    page: dict[str, Any] = {}
    m.complete(page, None)
    page |= {"retry_count": 2, "created_at": 7.0}
    link = dict(page)
    m.complete(link, page, tries)
    assert "retry_count" not in link
    assert link["created_at"] > page["created_at"]
    assert m.OWN not in link


def test_a_projects_own_time_travels_and_is_handed_on_with_a_copy() -> None:
    page: dict[str, Any] = {"created_at": "2020-01-01"}
    m.complete(page, None)
    link = dict(page)
    m.complete(link, page)
    assert m.storable(link)["created_at"] == "2020-01-01"
    plain: dict[str, Any] = {}
    m.complete(plain, link)
    assert plain["created_at"] > 0


def test_no_stored_name_lets_another_value_of_ours_pass() -> None:
    with pytest.raises(BadMeta, match="not a whole number"):
        m.storable({m.OWN: ["download_maxsize"], "download_maxsize": "all"})
