"""What counts where several statements are made about one request (I10)."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.lease_ends import Ends, once_a_page
from scrapy_seine.engine.lease.outcomes import Outcome, prevails
from scrapy_seine.engine.lease.page_end import UNSTATED
from scrapy_seine.engine.lease.stated_outcomes import LACKING_S
from scrapy_seine.engine.lease.uncaught import uncancelled
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.model import Burial, Lease, Push
from scrapy_seine.frontier.retry_rules import KEEPS_LINKS

URL = "http://shop.example/p/1"


class Rig:
    """A in-flight table around one request, with the worker's own rules for retries."""

    def __init__(self, **meta: Any) -> None:
        self.inflight = InFlightTable()
        self.ended: list[InFlight] = []
        nothing: Any = None
        counted = (lambda name, n: None, 10)
        ends = Ends(nothing, "worker", nothing, nothing, *counted, nothing)
        self.inflight.connect(self.ended.append, ends.policy)
        self.request = Request(URL, meta=meta)
        lease = Lease(id="1", token="1", slot_ms=0, deliveries=0, stored=b"4000 shop.example\n")
        self.entry = self.inflight.begin(self.request, lease)

    def end(self) -> InFlight:
        self.inflight.record_finished(self.request)
        assert self.ended == [self.entry]
        return self.entry


def given_up(kind: str, links: list[Push], caplog: pytest.LogCaptureFixture) -> Burial:
    """Give a page up that yielded links; returns what the frontier is told."""
    rig, told = Rig(), []
    rig.inflight.bury(rig.request, kind, "KeyError: 'price'")
    entry = rig.end()
    entry.children = links
    nothing: Any = None
    sent: Any = SimpleNamespace(bury=told.append)
    local: Any = SimpleNamespace(release_parent=lambda entry: None)
    Ends(sent, "worker", nothing, nothing, lambda name, n: None, 10, local).send(entry)
    assert "KeyError: 'price'" in caplog.text
    assert ("links" in caplog.text) is bool(links)
    (burial,) = told
    return burial


def link(path: str, fingerprint: int | None = None) -> Push:
    blob = encode({"url": f"http://shop.example/{path}", "method": "GET"})
    return Push(domain="shop.example", blob=blob, fingerprint=fingerprint)


@pytest.mark.parametrize("kind", sorted(KEEPS_LINKS))
def test_the_links_of_a_page_enter_though_its_callback_or_an_item_failed(kind, caplog):
    """I3, I10: one bad item on a first page must not end a whole crawl."""
    links = [link("a", 1), link("b", 2)]
    assert given_up(kind, links, caplog).children == links
    assert "the 2 links that it had yielded enter" in caplog.text


def test_the_links_of_what_may_be_no_page_of_the_site_come_with_its_replay(caplog):
    """A wall's links are no links of the site."""
    assert given_up("ban", [link("a", 1)], caplog).children == []
    assert "its 1 links come with its replay" in caplog.text


def test_a_page_without_links_says_nothing_of_them(caplog):
    assert given_up("item", [], caplog).children == []


def test_links_that_skip_the_filter_enter_once_though_their_page_is_read_again():
    """As often as one reading yields them, and apart from those of other pages."""
    lease, other = Rig().entry.lease, attrs.evolve(Rig().entry.lease, id="2")
    links = [link("a"), link("a"), link("b"), link("c", 7)]
    first = [made.fingerprint for made in once_a_page(lease, links)]
    assert [made.fingerprint for made in once_a_page(lease, links)] == first
    assert len({*first, *(made.fingerprint for made in once_a_page(other, links[:3]))}) == 7
    assert first[-1] == 7


def test_a_link_that_cannot_be_read_costs_the_page_its_links_and_no_more(caplog):
    """I8: the page is a dead letter all the same."""
    odd = Push(domain="a", blob=b"odd")
    assert given_up("parse", [odd], caplog).children == []
    assert "come with its replay" in caplog.text


STATEMENTS = {
    "done": lambda rig: rig.inflight.state_done(rig.entry),
    "ignored": lambda rig: rig.inflight.ignore(rig.request, "robots"),
    "retry": lambda rig: rig.inflight.state_failure(rig.entry, "store", "away"),
    "bury": lambda rig: rig.inflight.bury(rig.request, "size", "too large"),
}


@pytest.mark.parametrize("order", list(permutations(STATEMENTS, 2)))
def test_a_failure_counts_more_than_success_in_whatever_order_they_are_stated(order):
    """I10: done by a callback, then failed in the store, is failed."""
    rig = Rig()
    for name in order:
        STATEMENTS[name](rig)
    assert rig.end().outcome == max(order, key=list(STATEMENTS).index)


def test_of_two_equal_statements_the_first_counts_because_it_is_the_cause():
    rig = Rig()
    rig.inflight.state_failure(rig.entry, "store", "first")
    rig.inflight.state_failure(rig.entry, "store", "second")
    assert rig.end().reason == "first"
    assert rig.entry.copy is not None
    assert rig.entry.copy.meta["retry_count"] == 1


def test_each_further_try_counts_and_comes_behind_others_of_its_priority():
    rig = Rig(retry_count=2)
    rig.request.priority = 7
    rig.inflight.state_failure(rig.entry, "connection", "refused", 5)
    copy = rig.end().copy
    assert (copy.meta["retry_count"], copy.meta["retry_times"], copy.priority) == (3, 3, 6)
    assert (copy.dont_filter, rig.entry.wait_s) == (True, 5)


def test_a_projects_own_count_is_no_failed_try_and_outlives_one():
    rig = Rig(retry_count=9, seine_own=["retry_count"])
    assert rig.entry.tries == 0
    rig.inflight.state_failure(rig.entry, "connection", "refused", 5)
    copy = rig.end().copy
    assert (copy.meta["retry_count"], copy.meta["retry_times"]) == (9, 1)


def test_what_is_sent_back_untried_keeps_its_priority():
    rig = Rig(retry_count=2)
    rig.request.priority = 7
    copy = rig.inflight.postpone(rig.request, kind="proxy", reason="none is free", wait_s=5)
    assert (copy.meta["retry_count"], copy.priority, copy.dont_filter) == (2, 7, True)


def test_what_nobody_states_has_failed_and_says_so():
    """I10: no default is success."""
    entry = Rig().end()
    assert (entry.outcome, entry.kind, entry.reason) == ("retry", "internal", UNSTATED)
    assert Rig(retry_count=3).end().outcome == "bury"


@pytest.mark.parametrize("outcome", ["done", "ignored", "release", "retry", "bury"])
def test_each_statement_counts_more_than_none(outcome: Outcome):
    assert prevails(outcome, "")
    assert not prevails("", outcome)


@pytest.mark.parametrize("value", ["three", None, [], {}, True, float("nan"), float("inf"), b"3"])
@pytest.mark.parametrize("key", ["max_retries", "max_retry_times", "retry_count"])
def test_a_wrong_number_of_retries_is_read_as_if_it_were_not_there(key, value):
    rig = Rig(**{key: value})
    rig.inflight.state_failure(rig.entry, "connection", "refused")
    assert rig.end().outcome == "retry"


def test_a_middleware_that_takes_all_meta_away_gives_no_further_tries():
    """Else a request that fails each time would be retried for ever."""
    rig = Rig(retry_count=4)
    rig.request.meta.clear()
    rig.inflight.state_failure(rig.entry, "connection", "refused")
    assert rig.end().outcome == "bury"


def test_a_request_that_cannot_be_copied_is_buried():
    rig = Rig()
    rig.request.priority = "high"  # type: ignore[assignment]
    rig.inflight.state_failure(rig.entry, "connection", "refused")
    assert rig.end().outcome == "bury"
    assert "cannot be copied: TypeError" in rig.entry.reason


@pytest.mark.parametrize("wait_s", [float("nan"), float("inf"), -1.0, 1e300])
def test_no_wait_is_endless(wait_s):
    rig = Rig()
    rig.inflight.state_failure(rig.entry, "429", "slow down", wait_s)
    assert 0 <= rig.end().wait_s <= 30 * 86400


def test_an_errback_takes_back_what_was_stated_and_can_fail_itself():
    rig = Rig()
    rig.inflight.state_exception(rig.entry, IgnoreRequest("by a filter"))
    rig.inflight.withdraw(rig.entry)
    rig.inflight.state_done(rig.entry)
    assert (rig.entry.outcome, rig.entry.handled, rig.entry.rule) == ("done", True, "")
    rig.inflight.state_spider_exception(rig.entry, ValueError("late"))
    assert (rig.end().outcome, rig.entry.kind) == ("bury", "parse")


def test_a_third_partys_filter_is_named():
    class SeenBefore(IgnoreRequest):
        pass

    rig = Rig()
    rig.inflight.state_exception(rig.entry, SeenBefore())
    entry = rig.end()
    assert (entry.outcome, entry.rule, entry.by) == ("ignored", "filter", "SeenBefore")


def test_a_failed_download_is_buried_only_if_no_middleware_answers_in_its_place():
    rig = Rig(retry_count=4)
    assert rig.inflight.retry_download(rig.request, kind="connection", reason="refused") is None
    assert rig.entry.outcome == ""
    rig.inflight.state_exception(rig.entry, OSError("refused"))
    entry = rig.end()
    assert (entry.outcome, entry.kind, entry.reason) == ("bury", "connection", "refused")


def test_what_is_handed_back_keeps_its_tries_and_is_nobody_elses():
    rig = Rig(retry_count=2)
    copy = rig.inflight.hand_back(rig.request)
    assert copy is not None
    assert copy.meta == rig.request.meta
    assert rig.inflight.hand_back(Request(URL)) is None  # the frontier did not issue it
    assert rig.end().outcome == "release"


def test_what_has_failed_is_not_handed_back():
    rig = Rig()
    rig.inflight.bury(rig.request, "size", "too large")
    assert rig.inflight.hand_back(rig.request) is None
    assert rig.end().outcome == "bury"


@pytest.mark.parametrize(("kind", "stated"), [("5xx", ""), ("429", ""), ("size", "bury")])
def test_a_callback_that_takes_a_status_takes_back_what_the_status_alone_had_stated(kind, stated):
    rig = Rig()
    rig.inflight.bury(rig.request, kind, "HTTP 503")
    rig.inflight.withdraw_status(rig.entry)
    assert rig.entry.outcome == stated


def test_a_retry_is_not_taken_back_by_a_callback():
    rig = Rig()
    rig.inflight.state_failure(rig.entry, "5xx", "HTTP 503")
    rig.inflight.withdraw_status(rig.entry)
    assert rig.entry.outcome == "retry"


def test_a_callbacks_outputs_all_come_and_then_end():
    assert list(uncancelled(iter([1, None, 3]))) == [1, None, 3]


def test_what_the_fleet_lacks_is_waited_for_until_it_is_enough():
    """A crawl that waits for ever never ends."""
    rig = Rig()
    copy = rig.inflight.wait_for(rig.request, kind="lane", reason="no browser", wait_s=5)
    assert copy is not None
    since_s = copy.meta["lacking_since"]
    assert since_s == pytest.approx(rig.inflight.now(rig.entry).timestamp(), abs=60)
    assert (rig.end().outcome, rig.entry.wait_s) == ("retry", 5)


@pytest.mark.parametrize(
    ("waited_s", "outcome"),
    [(10, "retry"), (LACKING_S - 60, "retry"), (LACKING_S + 60, "bury"), (-3600, "retry")],
)
def test_a_wait_is_counted_from_its_beginning_and_not_from_a_time_to_come(waited_s, outcome):
    probe = Rig()
    now_s = probe.inflight.now(probe.entry).timestamp()
    rig = Rig(lacking_since=now_s - waited_s)
    copy = rig.inflight.wait_for(rig.request, kind="lane", reason="no browser", wait_s=5)
    assert (copy is None) is (outcome == "bury")
    if copy is not None and waited_s > 0:
        assert copy.meta["lacking_since"] == now_s - waited_s
    if waited_s < 0:
        assert copy.meta["lacking_since"] < now_s + 60
    assert rig.end().outcome == outcome


@pytest.mark.parametrize("ends", ["postpone", "retry"])
def test_a_wait_is_over_once_the_fleet_has_what_lacked(ends):
    """A second wait, hours later, begins anew: the request is not given up at once."""
    rig = Rig(lacking_since=1.0)
    if ends == "postpone":
        rig.inflight.postpone(rig.request, kind="lane", reason="not this worker", wait_s=5)
    else:
        rig.inflight.retry(rig.request, kind="connection", reason="refused")
    assert "lacking_since" not in rig.end().copy.meta


@pytest.mark.parametrize("since", ["long ago", None, 5, True])
def test_a_time_that_is_none_counts_as_now(since):
    rig = Rig(lacking_since=since)
    assert rig.inflight.wait_for(rig.request, kind="lane", reason="none", wait_s=5) is not None


def test_a_request_of_another_source_waits_for_nothing():
    rig = Rig()
    wait = {"kind": "lane", "reason": "none", "wait_s": 5}
    assert rig.inflight.wait_for(Request(URL), **wait) is None
    assert rig.inflight.postpone(Request(URL), **wait) is None
    assert rig.inflight.retry_download(Request(URL), kind="lane", reason="none") is None


def test_a_download_that_may_be_tried_again_is_not_stated_twice():
    rig = Rig()
    assert rig.inflight.retry_download(rig.request, kind="connection", reason="cut") is not None
    assert rig.inflight.retry_download(rig.request, kind="timeout", reason="slow") is None
    assert (rig.end().outcome, rig.entry.kind) == ("retry", "connection")
