"""Scrapy's own tests with the add-on's one line: which of them end otherwise than without it?

usage: python -m tests.benchmarks.scrapy_suite [--sdist FILE] [--only WORDS] [--jobs 2]
           [--patience 180] [--json]

The tests are those of the sdist of the installed Scrapy, from the package index: middlewares,
spiders, feed exports, commands, whole crawls. The line is put into Scrapy's default settings, in
the tests' own processes and in those that they start; each crawl has a name of its own. What fails
is run again without the line, and printed with its error where it passes then.
docs/scrapy-features.md has the reason of each.
A test of a command starts a process or more. On a busy machine run such a file by itself, with more
patience: `--only test_command_check --jobs 1 --patience 600`.
They need `pip install pytest-twisted pytest-xdist testfixtures sybil pyftpdlib pexpect`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks.server import redis_server

#: Which of Scrapy's test files are run.
CHOSEN = (
    *("test_spidermiddleware*", "test_downloadermiddleware*", "test_feedexport*", "test_command*"),
    *("test_cmdline*", "test_spider.py", "test_spider_*", "test_closespider*", "test_crawl.py"),
    *("test_pipeline_crawl*", "test_request_cb_kwargs*", "test_request_attribute_binding*"),
    *("test_pipelines*", "test_signals.py", "test_engine_stop*"),
)
CUSTOMIZE = """
import os
from scrapy.settings import default_settings
default_settings.ADDONS = {"seine_names.Names": 400, "scrapy_seine.Addon": 500}
default_settings.REDIS_URL = os.environ["SEINE_SUITE_REDIS"]
"""
NAMES = """
import uuid


class Names:
    def update_settings(self, settings):
        settings.set("SEINE_CRAWL", uuid.uuid4().hex, "cmdline")
"""


def fetch(folder: Path) -> Path:
    """Download the sdist of the installed version; returns its file."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    name = f"scrapy=={version('scrapy')}"
    subprocess.run([*command, "-d", str(folder), name], check=True, timeout=300)
    return next(folder.glob("scrapy-*.tar.gz"))


def unpack(sdist: Path, folder: Path, patience_s: int) -> Path:
    """Unpack the tests, and Scrapy of the same version.

    Its tests put the folder above `scrapy` ahead of the standard library; in that of installed
    packages a backport may hide a module of the library (`typing`). A command may take longer than
    they let it, where the machine is busy: it may take *patience_s*.
    """
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    root = next(path for path in folder.iterdir() if (path / "conftest.py").exists())
    for name in ("utils/cmdline.py", "test_command_shell.py"):
        file = root / "tests" / name
        patient = re.sub(
            r"\b(timeout=|TIMEOUT = )\d+", rf"\g<1>{patience_s}", file.read_text("utf-8")
        )
        file.write_text(patient, "utf-8")
    return root


def run(
    root: Path, files: Sequence[str], report: Path, *, jobs: int, redis_url: str, patience_s: int
) -> None:
    """Run the files; an empty *redis_url* is plain Scrapy."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    if redis_url:
        extra = report.parent / "line"
        extra.mkdir()
        (extra / "sitecustomize.py").write_text(CUSTOMIZE, "utf-8")
        (extra / "seine_names.py").write_text(NAMES, "utf-8")
        environment["PYTHONPATH"] += f"{os.pathsep}{extra}"
        environment["SEINE_SUITE_REDIS"] = redis_url
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:asyncio"]
    command += ["--reactor=asyncio", "-n", str(jobs if jobs > 1 else 0), f"--junitxml={report}"]
    command += [f"--timeout={patience_s}"]
    # Scrapy's tests are for an older pytest, whose successor warns, and there a warning fails.
    command += ["-W", "ignore::pytest.PytestRemovedIn10Warning"]
    subprocess.run([*command, *files], cwd=root, env=environment, stdout=sys.stderr, check=False)


def results(report: Path) -> dict[str, str]:
    """Return the error of each test by its name; '' where it passed."""
    found = {}
    for case in ET.parse(report).iter("testcase"):
        failed = [child for child in case if child.tag in {"failure", "error"}]
        text = failed[0].get("message", "") or "failed" if failed else ""
        found[f"{case.get('classname')}.{case.get('name')}"] = text
    return found


def node(root: Path, name: str) -> str:
    """Return what pytest calls a test of a report (`tests.test_x.TestY.test_z[1]`); '' for none."""
    dotted, bracket, parameter = name.partition("[")
    path, parts = root, dotted.split(".")
    for at, part in enumerate(parts[:-1], 1):
        path /= part
        if (file := path.with_suffix(".py")).is_file():
            return "::".join([str(file), *parts[at:]]) + bracket + parameter
    return ""


def compare(
    sdist: Path, folder: Path, only: Sequence[str], *, jobs: int, patience_s: int
) -> tuple[int, dict[str, str]]:
    """Run both ways; returns how many tests there are, and those that fail with the line alone."""
    root = unpack(sdist, folder, patience_s)
    files = sorted({str(path) for name in CHOSEN for path in (root / "tests").glob(name)})
    chosen = [file for file in files if not only or any(word in file for word in only)]
    with redis_server() as redis_url:
        report = folder / "ours.xml"
        run(root, chosen, report, jobs=jobs, redis_url=redis_url, patience_s=patience_s)
        ours = results(report)
        failed = [at for name, error in ours.items() if error and (at := node(root, name))]
        plain: dict[str, str] = {}
        if failed:
            report = folder / "plain.xml"
            run(root, failed, report, jobs=jobs, redis_url="", patience_s=patience_s)
            plain = results(report)
    return len(ours), {name: error for name, error in ours.items() if error and not plain.get(name)}


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scrapy_suite")
    parser.add_argument("--sdist", type=Path, help="Scrapy's sdist (default: from the index)")
    parser.add_argument("--only", default="", help="words of files' names, by commas")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--patience", type=int, default=180, help="seconds that a test may take")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seine-suite-") as name:
        folder = Path(name)
        only = [word for word in args.only.split(",") if word]
        sdist = args.sdist or fetch(folder)
        how = {"jobs": args.jobs, "patience_s": args.patience}
        number, different = compare(sdist, folder, only, **how)
    for test, error in sorted(different.items()) if not args.json else []:
        print(f"{test}\n    {error.strip().splitlines()[0][:300]}")
    figures = {"tests": number, "different": len(different), "names": sorted(different)}
    print(json.dumps({**figures, "seconds": round(time.monotonic() - began)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
