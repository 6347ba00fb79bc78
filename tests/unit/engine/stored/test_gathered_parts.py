"""Callbacks that add to a dict or list that several requests carry are found in the source."""

from __future__ import annotations

import ast

import pytest

from scrapy_seine.engine.stored.gathered_parts import gathering_callbacks

LOOP = """
    def parse(self, response):
        state = {"left": 3}
        for link in links:
            yield response.follow(link, self.part, cb_kwargs={"state": state})
"""
EACH_ITS_OWN = """
    def parse(self, response):
        for link in links:
            state = {"left": 3}
            yield response.follow(link, self.part, cb_kwargs={"state": state})
"""
COUNTS = """
    def part(self, response, state):
        state["left"] -= 1
"""
SETS = """
    def part(self, response, state):
        state["url"] = response.url
"""
COPIES = """
    def part(self, response, state):
        state = dict(state)
        state["left"] -= 1
"""


def found(source: str) -> dict[str, frozenset[str]]:
    tree = ast.parse(f"class Spider:\n{source}")
    methods = {x.name: [x] for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)}
    return gathering_callbacks(methods)


@pytest.mark.parametrize(
    "callback",
    [
        COUNTS,
        """
    def part(self, response, state):
        state["parts"].append(response.url)
""",
        """
    def part(self, response, state):
        state["parts"][response.url] = 1
""",
        """
    def part(self, response):
        response.meta["state"]["left"] -= 1
""",
        """
    def part(self, response):
        mine = response.meta.get("state")
        mine["parts"].append(1)
""",
        """
    def part(self, failure):
        mine = failure.request.cb_kwargs["state"]
        mine["left"] -= 1
""",
    ],
)
def test_a_callback_that_adds_to_what_a_loop_passes_on_gathers(callback: str) -> None:
    assert found(LOOP + callback) == {"part": {"state"}}


@pytest.mark.parametrize(
    "parse",
    [
        """
    def parse(self, response):
        yield response.follow("/a", self.part, meta={"state": both})
        yield response.follow("/b", self.part, meta={"state": both})
""",
        """
    def parse(self, response):
        return [response.follow(x, self.part, cb_kwargs=dict(state=both)) for x in links]
""",
    ],
)
def test_two_requests_or_a_list_of_them_share_as_a_loop_does(parse: str) -> None:
    assert found(parse + COUNTS) == {"part": {"state"}}


@pytest.mark.parametrize(
    "source",
    [
        EACH_ITS_OWN + COUNTS,
        LOOP + SETS,
        LOOP
        + "    def part(self, response, state):\n        return {**state, 'url': response.url}",
        LOOP + COPIES,
    ],
    ids=["each its own", "sets a key", "reads", "copies"],
)
def test_a_callback_that_needs_no_other_requests_value_gathers_nothing(source: str) -> None:
    assert found(source) == {}
