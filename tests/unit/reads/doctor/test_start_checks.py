"""What a worker starts without is said in one line each: what, where, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawler.catalogue.jobs.model import Job
from crawler.reads.doctor.start_checks import FetchOptions, job_findings, start_findings
from scrapy_seine.broken_imports import BrokenFile

NAMED: dict[str, Any] = {"USER_AGENT": "Boat/1 (+https://boat.dev/bot)"}


def found(
    settings: dict[str, Any], *site_options: FetchOptions, broken: BrokenFile | None = None
) -> list[str]:
    files = [broken] if broken else []
    return [
        f"{one.level} {one.subject}: {one.text}"
        for one in start_findings({**NAMED, **settings}, site_options, files)
    ]


def test_nothing_is_said_where_nothing_lacks(tmp_path: Path) -> None:
    file = tmp_path / "proxies.txt"
    file.write_text("10.0.0.1:80\n10.0.0.2:80 pool=residential\n")
    listed = {"SEINE_PROXIES_PATH": str(file), "SEINE_PROXY_POOL": "residential"}

    assert found({}) == []
    assert found(listed) == [f"ok proxies: {file}: 1 datacenter, 1 residential"]
    assert found({"SEINE_BROWSER": "1"}, FetchOptions("shop", lane="browser")) == []


def test_site_files_with_one_name_are_told() -> None:
    said = "warn files: 2 site files have the name 'shop': their products are one site's"
    assert found({}, FetchOptions("shop"), FetchOptions("lamps"), FetchOptions("shop")) == [said]


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        ("", {}, "fail proxies: {file} holds no proxy"),
        ("# none yet\n", {}, "fail proxies: {file} holds no proxy"),
        (None, {}, "fail proxies: the list of proxies cannot be read: "),
        ("10.0.0.1:80\nnonsense\n", {}, "warn proxies: 1 lines of {file} are no proxies; line 2: "),
        (
            "10.0.0.1:80\n",
            {"SEINE_PROXY_POOL": "residential"},
            "fail proxies: SEINE_PROXY_POOL asks for the pool 'residential', of which {file}",
        ),
    ],
)
def test_a_list_of_proxies_that_will_not_do_is_named(
    tmp_path: Path, text: str | None, settings: dict[str, Any], says: str
) -> None:
    file = tmp_path / "proxies.txt"
    if text is not None:
        file.write_text(text)
    lines = found({"SEINE_PROXIES_PATH": str(file), **settings})

    assert lines[0].startswith(says.format(file=file)), lines


def test_a_pool_or_a_lane_that_nobody_has_is_named_with_its_site() -> None:
    options = FetchOptions("shop", lane="browser", proxy_pool="gateway")
    assert found({}, options) == [
        "fail proxies: site shop asks for the pool 'gateway', but no list of proxies is given",
        "warn lanes: shop must be fetched by a browser, which this worker does not have",
    ]


def test_an_example_is_no_name_and_a_browser_s_identity_needs_none() -> None:
    (line,) = found({"USER_AGENT": "Seine/0.1 (+https://example.com/bot)"})
    assert line.startswith("warn identity: USER_AGENT is 'Seine/0.1 (+https://example.com/bot)'")
    assert found({"USER_AGENT": ""}) != []
    assert found({"USER_AGENT": "", "SEINE_IDENTITY": "desktop"}) == []


def test_a_file_that_is_left_out_is_repeated() -> None:
    broken = BrokenFile("spiders/sites/shop.py", 3, "SyntaxError: invalid syntax")
    assert found({}, broken=broken) == [
        "fail files: spiders/sites/shop.py:3: SyntaxError: invalid syntax; it is left out"
    ]


def test_a_job_that_nobody_can_finish_is_named() -> None:
    job = Job(id="j", site_id="s", kind="full", state="running", started_at=0.0, total=10, done=4)

    def told(idle: bool, workers: int, one: Job = job) -> list[str]:
        return [f"{f.level}: {f.text}" for f in job_findings([one], idle=idle, workers=workers)]

    assert told(idle=True, workers=3) == [
        "fail: job j lacks 6 pages, which the frontier does not have"
    ]
    assert told(idle=False, workers=0) == ["warn: job j has 6 pages left, and no worker is alive"]
    assert told(idle=False, workers=1) == []


def test_a_job_that_was_left_half_planned_is_named_unless_a_worker_may_be_at_it() -> None:
    usual: Any = {"id": "j", "site_id": "s", "kind": "full", "state": "running", "started_at": 0.0}
    whole, half = Job(**usual, planned=True), Job(**usual, planned=False)

    def told(job: Job, workers: int) -> list[str]:
        return [f.text for f in job_findings([job], idle=True, workers=workers)]

    assert told(half, 0) == ["job j was left half planned"]
    assert told(half, 1) == told(whole, 0) == told(whole, 1) == []
