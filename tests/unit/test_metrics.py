"""Metrics keep Prometheus' conventions, and counters never fall."""

import shutil
import subprocess
import time

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from scrapy_seine import metrics
from scrapy_seine.engine.telemetry.metrics_port import MetricsPort, parse_port
from scrapy_seine.engine.telemetry.outcome_counter import OutcomeCounter
from scrapy_seine.engine.telemetry.worker_metrics import WorkerMetrics, worker_sheet
from scrapy_seine.errors import ConfigError
from scrapy_seine.metrics import Sheet
from scrapy_seine.page_metrics import Histogram, TopLabels
from scrapy_seine.reads.prometheus import add_proxies, render

STATS = {
    "downloader/response_status_count/200": 7,
    "downloader/response_status_count/503": 2,
    "downloader/exception_type_count/twisted.internet.error.TimeoutError": 1,
    "downloader/response_bytes": 4096,
    "item_scraped_count": 5,
    "seine/retries/5xx": 2,
    "seine/buried/parse": 1,
    "access/ok": 6,
    "extract/doubtful/price": 4,
    "access/rule/status": 1,
    "seine/store/inserted": 4,
    "seine/store/batches": 2,
    "seine/store/milliseconds": 1500,
    "seine/blocks/429": 1,
    "proxies/used/datacenter": 3,
    "start_time": object(),
}


def a_tally():
    tally = OutcomeCounter()
    tally.count_end("shop.example", "done")
    tally.count_end("shop.example", "done")
    tally.count_end("shop.example", "retry")
    tally.seconds.observe(0.2)
    return tally


@pytest.mark.parametrize("spec", metrics.SPECS, ids=lambda spec: spec.name)
def test_names_follow_the_conventions(spec):
    assert spec.name.startswith("seine_")
    assert spec.name.endswith("_total") == (spec.kind == "counter")
    assert spec.help.endswith(".")
    assert len(spec.labels) <= 2


def test_no_metric_is_declared_twice():
    names = [spec.name for spec in metrics.SPECS]

    assert len(names) == len(set(names)) > 30


def test_scrapys_stats_become_metrics():
    text = render(worker_sheet("catalog", STATS, a_tally())).decode()

    for line in (
        'seine_responses_total{crawl="catalog",status="503"} 2.0',
        'seine_download_errors_total{crawl="catalog",error="TimeoutError"} 1.0',
        'seine_failures_total{crawl="catalog",end="retry",kind="5xx"} 2.0',
        'seine_failures_total{crawl="catalog",end="bury",kind="parse"} 1.0',
        'seine_verdicts_total{crawl="catalog",verdict="ok"} 6.0',
        'seine_doubtful_total{crawl="catalog",field="price"} 4.0',
        'seine_rows_total{crawl="catalog",outcome="inserted"} 4.0',
        'seine_upsert_batches_total{crawl="catalog"} 2.0',
        'seine_upsert_seconds_total{crawl="catalog"} 1.5',
        'seine_blocks_total{crawl="catalog",status="429"} 1.0',
        'seine_proxy_uses_total{crawl="catalog",pool="datacenter"} 3.0',
        'seine_items_total{crawl="catalog",outcome="scraped"} 5.0',
        'seine_requests_ended_total{crawl="catalog",domain="shop.example",outcome="done"} 2.0',
        'seine_response_seconds_bucket{crawl="catalog",le="0.25"} 1.0',
        'seine_response_seconds_count{crawl="catalog"} 1.0',
    ):
        assert line in text


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_promtool_finds_nothing_to_mend():
    text = render(worker_sheet("catalog", STATS, a_tally()))

    done = subprocess.run(
        ["promtool", "check", "metrics"], check=False, input=text, capture_output=True
    )

    assert (done.returncode, done.stderr) == (0, b"")


def test_errors_of_one_name_in_two_modules_are_one_series() -> None:
    """Prometheus drops all but the first value of a series that it reads twice."""
    kind = "downloader/exception_type_count"
    errors = {f"{kind}/builtins.TimeoutError": 2, f"{kind}/twisted.internet.error.TimeoutError": 3}
    text = render(worker_sheet("catalog", errors, a_tally())).decode()
    lines = [line for line in text.splitlines() if "TimeoutError" in line]
    assert lines == ['seine_download_errors_total{crawl="catalog",error="TimeoutError"} 5.0']


def test_the_histogram_counts_each_value_once():
    histogram = Histogram(bounds=(0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 9.0):
        histogram.observe(value)

    assert histogram.cumulative() == [("0.1", 2.0), ("1.0", 3.0), ("+Inf", 4.0)]
    assert histogram.total == pytest.approx(9.65)


def test_domains_beyond_the_limit_share_a_label():
    top = TopLabels(limit=4)

    assert [top.label(d) for d in "abcd"] == ["a", "b", "other", "other"]
    top.promote(["d", "c", "e"])
    assert [top.label(d) for d in "abcde"] == ["a", "b", "c", "d", "other"]


def test_a_report_that_failed_is_told_the_next_time():
    tally = a_tally()
    taken = tally.take()
    tally.count_end("shop.example", "done")
    tally.put_back(taken)

    assert tally.take() == {"shop.example": {"done": 3, "retry": 1}}
    assert tally.take() == {}


def test_a_crawl_without_proxies_shows_none_of_their_states():
    none, some = Sheet("catalog"), Sheet("catalog")
    add_proxies(none, {"good": 0, "banned": 0})
    add_proxies(some, {"good": 3, "banned": 0})
    assert render(none) == b""
    assert b'state="good"} 3.0' in render(some)
    assert b'state="banned"} 0.0' in render(some)


def test_label_values_are_escaped():
    sheet = Sheet("catalog")
    sheet.add(metrics.STORE_UP, 1, 'a"b\nc')

    assert 'store="a\\"b\\nc"' in render(sheet).decode()


@pytest.mark.parametrize("raw", ["x", "-1", "65536", None])
def test_a_wrong_port_is_named(raw):
    with pytest.raises(ConfigError, match="SEINE_METRICS_PORT"):
        parse_port(raw)


@pytest.mark.alone
def test_counting_a_page_costs_far_less_than_a_tenth_of_a_millisecond():
    tally, pages = OutcomeCounter(), 20_000
    domains = [f"d{n}.example" for n in range(500)]
    began = time.process_time()
    for n in range(pages):
        tally.count_end(domains[n % 500], "done")
        tally.seconds.observe(0.3)
        if n % 1000 == 0:
            tally.take()

    assert (time.process_time() - began) / pages < 0.00005


def test_junk_in_a_label_is_shown_and_stays_two_labels() -> None:
    """Control characters that others wrote to Redis: two series of one name end a scrape."""
    sheet = Sheet("c")
    sheet.add_each(metrics.EVENTS, {"a\x1b": 1, "a\x1c": 2, "a\ud800": 3})
    text = render(sheet)
    assert b'a\\\\u001b"' in text
    assert len({line for line in text.splitlines() if b'="a' in line}) == 3


def test_a_worker_shows_when_it_began() -> None:
    """The exporter asked the scheduler for a time that it never had, and showed 0."""
    crawler = get_crawler(settings_dict={"SEINE_CRAWL": "c"})
    before = time.time()
    text = WorkerMetrics(crawler).text(0.0).decode()
    (line,) = [line for line in text.splitlines() if line.startswith("seine_worker_start_time")]
    assert before <= float(line.split()[-1]) <= time.time()


def test_a_worker_without_a_port_logs_no_warning():
    """Scrapy logs the message of a part that is not configured as a warning."""
    with pytest.raises(NotConfigured) as told:
        MetricsPort.from_crawler(get_crawler())
    assert not told.value.args
