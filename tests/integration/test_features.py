"""docs/scrapy-features.md: each row's spider is crawled plain and with the add-on's line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import started
from tests.helpers import patient, serving
from tests.integration.features import features
from tests.integration.features.catalogue import Feature, Seen
from tests.integration.features.run import key_of
from tests.integration.features.site import ASKED, Site

pytestmark = pytest.mark.redis


def crawl_all(folder: Path, redis_url: str, namespace: str) -> dict[str, Any]:
    """Crawl all features in a process of their own."""
    out = folder / "found.json"
    command = [sys.executable, "-m", "tests.integration.features.run"]
    with serving(Site) as site:
        process = started.run(
            [*command, redis_url, site, namespace, str(out)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=patient(120),
            check=False,
        )
    assert out.exists(), process.stdout[-5000:]
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


def told(feature: Feature, side: str, seen: Seen) -> list[str]:
    """A side's items as texts, without the side's name."""
    texts = (json.dumps(item, sort_keys=True) for item in seen.items)
    return sorted(text.replace(key_of(feature, side), "") for text in texts)


def faults(feature: Feature, ours: Seen, plain: Seen) -> Iterator[str]:
    """Say what is not as the row says."""
    if feature.equal:
        mine, theirs = told(feature, "ours", ours), told(feature, "plain", plain)
        if mine != theirs or not mine:
            yield f"items {mine}, plain {theirs}"
    for name in feature.stats:
        if ours.total(name) != plain.total(name):
            yield f"stat {name}: {ours.total(name)}, plain {plain.total(name)}"
    try:
        if feature.check is not None:
            feature.check(ours, plain)
    except AssertionError as error:
        yield f"check: {error}"


def test_each_feature_does_what_its_row_says(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    found = crawl_all(tmp_path, redis_url, namespace)
    wrong = {}
    for feature in features():
        sides = [
            Seen(**found[key_of(feature, side)], asked=ASKED[key_of(feature, side)])
            for side in ("ours", "plain")
        ]
        if said := list(faults(feature, *sides)):
            wrong[feature.shown_by] = said
    assert not wrong, json.dumps(wrong, indent=1)
