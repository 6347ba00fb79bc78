"""Charts as inline SVG: no script, no library, readable by a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from crawler.dashboard.html import tag
from scrapy_seine.reads.formatting import count

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 180, 56, 22


def line_chart(
    label: str, values: Sequence[float], *, first: str, last: str, steps: bool = False
) -> Markup:
    """Draw one line over even steps of time; *first* and *last* are the ends of its axis."""
    points = places(values, steps=steps)
    floor, top = HEIGHT - BOTTOM, max(values, default=0)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    area = f"{LEFT},{floor} {path} {points[-1][0]:.1f},{floor}" if points else ""
    return tag.svg(
        tag.title(f"{label}: from {first} to {last}, at most {_short(top)}"),
        tag.line(x1=LEFT, y1=floor, x2=WIDTH, y2=floor, class_="axis"),
        tag.polygon(points=area, class_="area") if area else None,
        tag.polyline(points=path, class_="line") if path else None,
        tag.text(_short(top), x=LEFT - 6, y=14, text_anchor="end"),
        tag.text("0", x=LEFT - 6, y=floor, text_anchor="end"),
        tag.text(first, x=LEFT, y=HEIGHT - 4),
        tag.text(last, x=WIDTH, y=HEIGHT - 4, text_anchor="end"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="chart",
    )


def _short(value: float) -> str:
    return count(value) if value == int(value) else f"{value:.2f}"


def places(values: Sequence[float], *, steps: bool = False) -> list[tuple[float, float]]:
    """Points of a line in the chart's own units; the largest value touches the top.

    >>> places([0, 10])
    [(56.0, 158.0), (720.0, 6.0)]
    """
    if not values:
        return []
    top, floor = max(*values, 1e-9), HEIGHT - BOTTOM
    wide = (WIDTH - LEFT) / max(len(values) - 1, 1)
    points = [
        (LEFT + at * wide, floor - (floor - 6) * value / top) for at, value in enumerate(values)
    ]
    if not steps:
        return points
    corners = [points[0]]
    for (_, before), (x, y) in pairwise(points):
        corners += [(x, before), (x, y)]
    return corners
