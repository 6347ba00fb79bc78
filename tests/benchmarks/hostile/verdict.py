"""The figures of one attack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crawler.demo.pages import Site
from tests.benchmarks.hostile import board, judge
from tests.benchmarks.hostile.fleet import Guarded
from tests.benchmarks.hostile.kinds import spread
from tests.benchmarks.hostile.plan import Inputs
from tests.benchmarks.hostile.screens import Screen
from tests.benchmarks.hostile.stored import FORBIDDEN

if TYPE_CHECKING:
    from tests.benchmarks.hostile.run import Attack


def verdict(
    attack: Attack,
    fleet: Guarded,
    inputs: Inputs,
    *,
    metrics: Sequence[tuple[str, str]],
    bad_ends: Sequence[str],
    shown: Sequence[Screen],
) -> dict[str, Any]:
    """Work the figures out; `examples` names what is wrong."""
    marks, visits = attack.marks, attack.shop.visits()
    lost = attack.lost()
    ids = [attack._site_id(host) for host in attack.hosts]
    missing, wrong = judge.rows_wrong(attack.servers.database_url, Site(attack.plan.products), ids)
    # The pace counts as long as there is both good and hostile work.
    until = min(marks.get("good", marks["end"]), marks.get("done", marks["end"]))
    before = _rate(visits, marks["base"], marks["attack"])
    meanwhile = _rate(visits, marks["attack"], until)
    screens = [(f"scrapy {screen.command}", screen.text) for screen in shown]
    answered = [
        (f"dashboard {r.ask.target[:60]}", r.body.decode("utf-8", "replace"))
        for r in attack.replies
    ]
    rows = list(judge.rows(attack.servers.database_url))
    logs = [("workers' logs", fleet.logs())]
    logs.append(
        ("dashboard's log", (attack.folder / "dashboard.log").read_text("utf-8", "replace"))
    )
    texts = [*logs, *rows, *screens, *answered, *metrics]
    secrets = judge.holders(texts, judge.spellings(attack.canaries.secret))
    kept = judge.archived(attack.folder / "archive")
    files = judge.holders([*texts, *kept], [f"file-{attack.canaries.secret}"])
    secrets = [line for line in secrets if f"file-{attack.canaries.secret}" not in line]
    inside = [f"{v.host}{v.path}" for v in attack.inside.visits]
    ran = [f"{v.host}{v.path}" for v in attack.hostile.visits if v.path.startswith(FORBIDDEN)]
    ran += [str(attack.canaries.touched)] if attack.canaries.touched.exists() else []
    broken = board.broken(attack.replies)
    failed = [f"{screen.command}: exit {screen.code}" for screen in shown if screen.code]
    blocks = [silence.cpu_s for silence in fleet.silences]
    left = attack.missing(inputs)
    return {
        "seed": attack.seed,
        "kinds": {
            "seeds": len(inputs.seeds),
            "stored": attack.plan.stored,
            "answers": len(inputs.answers),
            "pages": len(inputs.pages) + len(inputs.shops),
            "dashboard": len(attack.replies) + len(attack.guesses),
            "writes": attack.writes,
        },
        "stopped_workers": len(fleet.stopped) + len(bad_ends),
        "lost_good_pages": len(lost),
        "lost_good_rows": len(missing),
        "wrong_good_rows": len(wrong),
        # A page is read in one stretch of the event loop, so no read is longer than a block.
        "slowest_read_s": round(max(blocks, default=0.0), 2),
        "longest_loop_block_s": round(max(blocks, default=0.0), 2),
        "longest_loop_silence_s": round(max((s.wall_s for s in fleet.silences), default=0.0), 2),
        "longest_gap_s": round(judge.longest_gap(visits, marks["attack"], until), 2),
        "code_runs": len(ran),
        "files_read": len(files),
        "private_fetches": len(inside),
        "secrets_shown": len(secrets),
        "good_rate_share": round(meanwhile / before, 3) if before else None,
        "good_pages_per_minute": [round(60 * before), round(60 * meanwhile)],
        "not_asked_for": len(left),
        "dashboard_failures": len(broken),
        "guesses_answered": sum(status == 403 for status in attack.guesses),
        "command_failures": len(failed),
        "control_characters": sum(screen.control_characters for screen in shown),
        "formula_cells": sum(screen.formulas for screen in shown),
        "seconds": round(marks["end"] - marks["base"], 1),
        "examples": {
            "stopped": [*fleet.stopped, *bad_ends][:9],
            "lost": [*lost[:5], *missing[:5], *wrong[:5]],
            "ran": _some(ran),
            "files": _some(files),
            "inside": _some(inside),
            "secrets": _some(secrets),
            "broken": _some(broken),
            "failed": _some(failed),
            "not_asked_for": _some(left),
        },
    }


def _rate(visits: Sequence[dict[str, Any]], start: float, end: float) -> float:
    return judge.pages_between(visits, start, end) / max(1e-9, end - start)


def _some(found: Sequence[str]) -> list[str]:
    return spread(12, sorted(set(found)))
