"""Charts: lines as inline SVG with their labels as HTML. No library.

The drawing is stretched to its container, but the labels are not, so that they have the same size
on a phone. With JavaScript (app.js) the value under the pointer is shown, from `data-points`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import attrs
import orjson
from markupsafe import Markup

from crawler.dashboard.html import Node, tag
from scrapy_seine.attrs_bases import Value
from scrapy_seine.reads.formatting import count

#: Size of the drawing in its own units.
WIDTH, HEIGHT = 600.0, 100.0
_SPARK_HEIGHT = 24.0
_HUNDRED = 100


@attrs.frozen(eq=False, repr=False)
class Series(Value):
    """One line: values at even steps; None: not measured."""

    name: str
    values: Sequence[float | None]


def line_chart(
    label: str,
    lines: Sequence[Series],
    marks: Sequence[str],
    *,
    unit: str = "",
    steps: bool = False,
    times: Sequence[float] = (),
    now: str = "",
    least_top: float = 0.0,
) -> Markup:
    """Draw lines over even steps of time.

    *marks* are the labels of the time axis, from start to end, each shown once; *times* are the
    Unix times of the values, for the pointer; *now* is shown beside the name.
    """
    highest = max(
        [least_top, *(value for line in lines for value in line.values if value is not None)]
    )
    top = nice_top(highest)
    polylines = [_shapes(line.values, top, n, steps=steps) for n, line in enumerate(lines)]
    grid_lines = [tag.line(x1=0, y1=y, x2=WIDTH, y2=y, class_="rule") for y in (0.5, HEIGHT / 2)]
    title = f"{label}: from {marks[0]} to {marks[-1]}, at most {axis_text(highest)}{unit}"
    svg = tag.svg(
        tag.title(title),
        grid_lines,
        tag.line(x1=0, y1=HEIGHT - 0.5, x2=WIDTH, y2=HEIGHT - 0.5, class_="axis"),
        polylines,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        preserveAspectRatio="none",
        role="img",
        class_="chart",
        data_points=_points(lines, times, unit),
    )
    # Counts have no halves.
    heights = [axis_text(top) + unit, axis_text(top / 2) + unit if unit or top > 1 else "", "0"]
    return tag.figure(
        tag.figcaption(tag.span(label), tag.strong(now) if now else None, _legend(lines)),
        tag.div(
            tag.div([tag.span(text) for text in heights], class_="heights", aria_hidden="true"),
            tag.div(svg, class_="drawing"),
            tag.div(
                [tag.span(text) for text in dict.fromkeys(marks)],
                class_="times",
                aria_hidden="true",
            ),
            class_="plot",
        ),
    )


def _legend(lines: Sequence[Series]) -> Node:
    if len(lines) == 1:
        return None
    keys = [
        tag.span(tag.span(class_=f"key s{n}"), f"{line.name} {axis_text(line.values[-1] or 0)}")
        for n, line in enumerate(lines)
        if line.values
    ]
    return tag.span(keys, class_="legend")


def _points(lines: Sequence[Series], times: Sequence[float], unit: str) -> str | None:
    """Return the data for the values under the pointer."""
    if not times:
        return None
    data = {
        "at": [int(moment) for moment in times],
        "unit": unit,
        "lines": [[line.name, [_rounded(value) for value in line.values]] for line in lines],
    }
    return orjson.dumps(data).decode()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _shapes(values: Sequence[float | None], top: float, n: int, *, steps: bool) -> list[Markup]:
    """Draw one line with gaps where values are missing; the first one has a filled area."""
    shapes = []
    for run in runs(values):
        points = places([value for _, value in run], len(values), run[0][0], top)
        if steps:
            points = stairs(points)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        if n == 0:
            base = f"{points[-1][0]:.1f},{HEIGHT:g} {points[0][0]:.1f},{HEIGHT:g}"
            shapes.append(tag.polygon(points=f"{path} {base}", class_="area"))
        shapes.append(tag.polyline(points=path, class_=f"line s{n}"))
    return shapes


def runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Split values at the missing ones.

    >>> runs([1, None, 2, 3])
    [[(0, 1)], [(2, 2), (3, 3)]]
    """
    parts: list[list[tuple[int, float]]] = []
    previous = None
    for index, value in enumerate(values):
        if value is not None:
            if previous is None:
                parts.append([])
            parts[-1].append((index, value))
        previous = value
    return parts


def places(
    values: Sequence[float], steps: int, start: int, top: float, height: float = HEIGHT
) -> list[tuple[float, float]]:
    """Return the points of a line in the drawing's units; a single value is a short line.

    >>> places([0, 10], 2, 0, 10)
    [(0.0, 99.0), (600.0, 1.0)]
    """
    step_width, inner_height = WIDTH / max(steps - 1, 1), height - 2
    points = [
        (
            round((start + n) * step_width, 1),
            round(1 + inner_height - inner_height * value / (top or 1), 1),
        )
        for n, value in enumerate(values)
    ]
    if len(points) == 1:
        x, y = points[0]
        points = [(max(x - 1, 0.0), y), (x + 1, y)]
    return points


def stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Hold each value until the next one.

    >>> stairs([(0, 1), (5, 2)])
    [(0, 1), (5, 1), (5, 2)]
    """
    corners = [points[0]]
    for (_, previous_y), (x, y) in pairwise(points):
        corners += [(x, previous_y), (x, y)]
    return corners


def nice_top(high: float) -> float:
    """Round up to 1, 2, 2.5 or 5 times a power of ten, so that the axis is easy to read.

    >>> nice_top(188), nice_top(0), nice_top(1.2), nice_top(100)
    (200.0, 1.0, 2.0, 100.0)
    """
    if high <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(high))
    return next(power * step for step in (1, 2, 2.5, 5, 10) if power * step >= high * 0.9999)


def axis_text(value: float) -> str:
    """Format a value of an axis.

    >>> axis_text(1500), axis_text(0.5), axis_text(2.0), axis_text(12.25)
    ('1,500', '0.5', '2', '12.2')
    """
    if value == int(value) or value >= _HUNDRED:
        return count(value)
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def sparkline(label: str, values: Sequence[float]) -> Node:
    """Draw a line as large as a word; a dash if there are fewer than two values or only zeros."""
    if len(values) < 2 or not any(values):  # noqa: PLR2004  # one value has no course
        return tag.span("–", class_="faint")
    points = places(values, len(values), 0, max(values), _SPARK_HEIGHT)
    path, foot = " ".join(f"{x:.1f},{y:.1f}" for x, y in points), f"{_SPARK_HEIGHT:g}"
    return tag.svg(
        tag.title(f"{label}: at most {axis_text(max(values))}, now {axis_text(values[-1])}"),
        tag.polygon(points=f"{path} {WIDTH:g},{foot} 0,{foot}", class_="area"),
        tag.polyline(points=path, class_="line s0"),
        viewBox=f"0 0 {WIDTH:g} {foot}",
        preserveAspectRatio="none",
        role="img",
        class_="spark",
    )
