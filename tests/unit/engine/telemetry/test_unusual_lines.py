"""A line of a log that is wrong or unusual is written, and ends nothing else."""

from __future__ import annotations

import json
import logging

import pytest

from scrapy_seine.engine.telemetry.log_stream import Collector
from scrapy_seine.engine.telemetry.logs import JsonFormatter


class Unprintable:
    def __str__(self) -> str:
        raise AttributeError("no name yet")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("%d pages", ("many",)),
        ("%(pages)s of %(site)s", ({"pages": 1},)),
        ("%s", (Unprintable(),)),
        (Unprintable(), ()),
    ],
)
def test_a_wrong_line_of_the_project_raises_nothing_where_it_is_logged(
    text: object, arguments: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own handlers report such a line; a callback that logs one would fail by ours."""
    collector, log = Collector("INFO"), logging.getLogger("project")
    monkeypatch.setattr(log, "propagate", False)
    log.addHandler(collector)
    try:
        log.warning(text, *arguments)
    finally:
        log.removeHandler(collector)
    (line,) = collector.take()
    assert line.startswith("[project] WARNING: ")


def test_a_json_line_holds_a_text_that_is_no_utf_8() -> None:
    record = logging.makeLogRecord({"msg": "from %s", "args": ("http://a.example/\udce9",)})
    assert json.loads(JsonFormatter().format(record))["message"] == "from http://a.example/?"
