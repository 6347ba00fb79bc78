"""The default parser over the saved pages: what it gets right, and what a page costs.

F1 per field over all saved product pages and over each half of them (by host, so that no shop is in
both); a value that is wrong counts against precision and recall. CPU is the process' own, best of
several rounds, beside extruct on the same pages: with all its syntaxes, and with JSON-LD, microdata
and OpenGraph alone, which reads no text of the page. Pages of 20 and of 300 KB are the saved ones,
filled up with reviews.

usage: python -m tests.benchmarks.extraction [--rounds 5] [--json] [--no-extruct] [--folder PATH]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import attrs

from crawler.extract import extract, find_links, parse
from tests.pages import HERE, Case, cases, judged, same

_REVIEW = (
    b'<article class="entry" id="r%d"><header><b>Visitor %d</b> <span class="stars"></span>'
    b'</header><div class="text"><p>It arrived within the week and has done what it should ever '
    b"since. The finish is even, the seams are straight, and the maker answers letters.</p></div>"
    b"<ul><li>useful</li><li>kept</li></ul></article>\n"
)
_STRUCTURED = "json-ld"
#: What extruct is told to read where it is not told to read all that it can.
_FEW_SYNTAXES = ("json-ld", "microdata", "opengraph")


@attrs.define
class OutcomeCounter:
    """Right, wrong and missing values of one field."""

    right: int = 0
    spurious: int = 0
    """Values that are wrong, or should not be there."""
    missed: int = 0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 for a field that nobody has."""
        total = 2 * self.right + self.spurious + self.missed
        return 2 * self.right / total if total else 1.0


def scores(pages: Sequence[Case]) -> tuple[dict[str, OutcomeCounter], list[str]]:
    """Each field's tally, and a line for each fault."""
    tallies: dict[str, OutcomeCounter] = {"kind": OutcomeCounter()}
    faults = []
    for case in pages:
        found = case.found()
        results = {"kind": (case.kind, found.kind)} | judged(case, found)
        for field, (expected, value) in results.items():
            tally = tallies.setdefault(field, OutcomeCounter())
            if same(field, expected, value):
                tally.right += expected is not None
                continue
            tally.spurious += value not in (None, [], "")
            tally.missed += expected is not None
            faults.append(f"{case.name}: {field} is {value!r}, not {expected!r}")
    return tallies, faults


def filled(case: Case, size: int) -> Case:
    """The page brought to at least *size* bytes, as reviews do."""
    body = case.body
    missing = max(0, size - len(body))
    filler = b"".join(
        _REVIEW % (count, count) for count in range(missing // len(_REVIEW % (9, 9)) + 1)
    )
    place = body.rfind(b"</body>")
    place = len(body) if place < 0 else place
    return attrs.evolve(case, body=body[:place] + filler + body[place:] if missing else body)


def _whole(case: Case) -> None:
    page = parse(case.body, case.url, case.content_type)
    extract(page)
    find_links(page)


def _extruct(case: Case, syntaxes: Sequence[str]) -> None:
    import extruct

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        extruct.extract(case.body, base_url=case.url, errors="ignore", syntaxes=list(syntaxes))


def cpu_ms(work: Callable[[Case], None], case: Case, rounds: int) -> float:
    """CPU of one page in milliseconds: the best of several rounds."""
    times = []
    for _ in range(rounds):
        before = time.process_time()
        work(case)
        times.append(1000 * (time.process_time() - before))
    return min(times)


def _costs(pages: Sequence[Case], rounds: int) -> dict[str, float]:
    structured, others, large = [], [], []
    for case in pages:
        sources = case.found().sources
        page = filled(case, 20_000)
        place = structured if sources.get("price") == _STRUCTURED else others
        place.append(cpu_ms(_whole, page, rounds))
        large.append(cpu_ms(_whole, filled(case, 300_000), rounds))
    return {
        "cpu_ms_20kb_json_ld": median(structured),
        "cpu_ms_20kb_other": median(others),
        "cpu_ms_300kb": median(large),
    }


def _beside_extruct(pages: Sequence[Case]) -> dict[str, float]:
    filled_pages = [filled(case, 20_000) for case in pages]
    import extruct

    ours = everything = few = 0.0
    for case in filled_pages:  # in turns, so that another process slows all of them down
        ours += cpu_ms(_whole, case, 3)
        everything += cpu_ms(partial(_extruct, syntaxes=extruct.SYNTAXES), case, 2)
        few += cpu_ms(partial(_extruct, syntaxes=_FEW_SYNTAXES), case, 3)
    return {
        "cpu_ratio_extruct": everything / ours,
        "cpu_ratio_extruct_restricted": few / ours,
        "extruct_ms": everything / len(pages),
        "extruct_restricted_ms": few / len(pages),
    }


def halves(pages: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """The pages in two halves, all pages of a host in one of them."""
    made: tuple[list[Case], list[Case]] = ([], [])
    for case in pages:
        host = urlsplit(case.url).hostname or case.name
        made[blake2b(host.encode(), digest_size=1).digest()[0] % 2].append(case)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print scores and costs; with --json, one object in the last line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", action="store_true")
    options.add_argument("--no-extruct", action="store_true")
    options.add_argument("--folder", type=Path, default=HERE)
    chosen = options.parse_args(arguments)
    pages = list(cases(chosen.folder))
    tallies, faults = scores(pages)
    print(*faults, sep="\n")
    result: dict[str, Any] = {"pages": len(pages)}
    result |= {f"f1.{field}": round(tally.f1, 4) for field, tally in sorted(tallies.items())}
    for name, half in zip(("first", "second"), halves(pages), strict=True):
        told = sorted(scores(half)[0].items())
        result[f"pages.{name}_half"] = len(half)
        result |= {f"f1.{name}_half.{field}": round(tally.f1, 4) for field, tally in told}
    products = [case for case in pages if case.kind == "product"]
    figures = _costs(products, chosen.rounds)
    if not chosen.no_extruct:
        figures |= _beside_extruct(products)
    result |= {name: round(value, 3) for name, value in figures.items()}
    for name, value in result.items():
        print(f"{name:24} {value}")
    if chosen.json:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
