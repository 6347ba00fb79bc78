"""A line names what several requests share, because each of them gets a copy of it."""

from __future__ import annotations

import pytest
from scrapy import Request

from scrapy_seine.engine.stored.shared_values import MAX_CHECKED, SharedValues


def said(caplog: pytest.LogCaptureFixture, *requests: Request) -> list[str]:
    watch = SharedValues()
    with caplog.at_level("INFO"):
        for request in requests:
            if watch.unchecked_count:
                watch.check(request)
    return [record.getMessage() for record in caplog.records]


def test_an_object_that_two_requests_carry_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    left = [3]
    texts = said(caplog, *(Request(f"http://a/{n}", meta={"left": left}) for n in range(3)))
    assert len(texts) == 1
    assert "callback parse share one list in meta['left']: each gets a copy" in texts[0]


def test_cb_kwargs_and_other_callbacks_are_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    item: dict[str, int] = {}
    (text,) = said(
        caplog,
        Request("http://a/", cb_kwargs={"item": item}),
        Request("http://b/", cb_kwargs={"other": item}, callback=said),
    )
    assert "callback said share one dict in cb_kwargs['other']" in text


@pytest.mark.parametrize(
    "values",
    [
        lambda n: {"own": [n]},
        lambda n, same="text": {"text": same},
        lambda n, same=(1, 2): {"never changes": same},
        lambda n, same=[404]: {"handle_httpstatus_list": same},
    ],
)
def test_nothing_is_said_of_what_is_each_ones_own_or_cannot_change(
    caplog: pytest.LogCaptureFixture, values: object
) -> None:
    assert callable(values)
    assert said(caplog, *(Request("http://a/", meta=values(n)) for n in range(9))) == []


def test_only_a_workers_first_requests_are_looked_at_and_nothing_of_them_is_kept() -> None:
    watch = SharedValues()
    for n in range(MAX_CHECKED):
        assert watch.unchecked_count
        watch.check(Request("http://a/", meta={"n": [n]}))
    assert (watch.unchecked_count, watch._carried) == (0, {})
