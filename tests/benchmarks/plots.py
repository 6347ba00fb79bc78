"""The plots of docs/benchmarks.md, as SVG that is the same for the same figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

STYLE = {
    "svg.hashsalt": "seine",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e5e5e5",
}
COLOURS = ("#1f6feb", "#c2410c", "#15803d", "#7e22ce")
SHARES = (
    ("cpu_user_ms", "worker, user", "#1f6feb"),
    ("cpu_sys_ms", "worker, system", "#93c5fd"),
    ("redis", "Redis", "#c2410c"),
    ("postgres", "PostgreSQL", "#15803d"),
)


def write(found: Mapping[str, Any], docs: Path, names: Mapping[str, str]) -> None:
    """Draw what was measured."""
    with mpl.rc_context(STYLE):
        if "whole_job" in found:
            _save(_job(found["whole_job"]["points"], names), docs / "bench-job.svg")
        if "sizes" in found:
            points = found["sizes"] + _of_20_kb(found)
            figure = _lines(points, "page_kb", "cpu_ms_running", names)
            _label(figure.axes[0], "size of a page, kB", "worker CPU without start-up, ms a page")
            _save(figure, docs / "bench-sizes.svg")
        if "distance" in found:
            figure = _lines(found["distance"], "distance_ms", "pages_per_s", names)
            _label(figure.axes[0], "to Redis and PostgreSQL and back, ms", "pages a second")
            _save(figure, docs / "bench-distance.svg")
        if "workers" in found:
            _save(_workers(found["workers"]), docs / "bench-workers.svg")


def _of_20_kb(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    sides = {point["side"] for point in found["sizes"]}
    points = found.get("whole_job", {}).get("points", [])
    return [{**point, "page_kb": 20} for point in points if point["side"] in sides]


def _blank(height: float = 3.4) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, height), layout="constrained")
    return figure, figure.subplots()


def _job(points: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Figure:
    figure, axes = _blank()
    labels = [names[point["side"]] for point in points]
    lefts = [0.0] * len(points)
    for key, label, colour in SHARES:
        widths = [_share(point["figures"], key) for point in points]
        axes.barh(labels, widths, left=lefts, label=label, color=colour)
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("CPU, ms a page")
    axes.legend(frameon=False)
    return figure


def _share(figures: Mapping[str, Mapping[str, float]], key: str) -> float:
    if key in figures:
        return figures[key]["median"]
    return figures[f"{key}_user_ms"]["median"] + figures[f"{key}_sys_ms"]["median"]


def _lines(points: Sequence[Mapping[str, Any]], x: str, y: str, names: Mapping[str, str]) -> Figure:
    figure, axes = _blank()
    sides = list(dict.fromkeys(point["side"] for point in points))
    for side, colour in zip(sides, COLOURS, strict=False):
        own = sorted((p for p in points if p["side"] == side), key=lambda p: float(p[x]))
        figures = [p["figures"][y] for p in own]
        middle = [f["median"] for f in figures]
        errors = [
            [f["median"] - f["low"] for f in figures],
            [f["high"] - f["median"] for f in figures],
        ]
        xs = [p[x] for p in own]
        axes.errorbar(xs, middle, errors, label=names[side], color=colour, marker="o", capsize=3)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _workers(points: Sequence[Mapping[str, Any]]) -> Figure:
    figure, axes = _blank()
    domains = list(dict.fromkeys(point["domains"] for point in points))
    for number, colour in zip(domains, COLOURS, strict=False):
        own = [p for p in points if p["domains"] == number]
        counts = [p["workers"] for p in own]
        axes.plot(
            counts,
            [p["pages_per_s"] for p in own],
            label=f"{number:,} domains",
            color=colour,
            marker="o",
        )
        one = own[0]["pages_per_s"] / own[0]["workers"]
        axes.plot(counts, [one * n for n in counts], color=colour, linestyle=":", linewidth=1)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, title="dotted: n times one")
    _label(axes, "workers", "pages a second")
    return figure


def reliability(found: Mapping[str, Any], path: Path) -> None:
    """Draw how many values are right by the confidence that they are told with."""
    names = {
        "shops": "generated shops",
        "changed": "pages of shops whose template changed",
        "stored": "what is stored of such shops",
        "saved": "saved pages, each alone",
    }
    with mpl.rc_context(STYLE):
        figure, axes = _blank(4.2)
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle=":")
        for (name, series), colour in zip(found.items(), COLOURS, strict=False):
            groups = series["groups"]
            said, right = ([group[key] for group in groups] for key in ("confidence", "right"))
            axes.plot(said, right, color=colour, marker="o", label=names.get(name, name))
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False, loc="lower right")
        _label(axes, "confidence of a value", "share of these values that is right")
        _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None, "Creator": None})
