"""The overview's plots, over one of four ranges of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
from markupsafe import Markup
from redis.asyncio import Redis

from crawler.dashboard.charts import Series, axis_text, line_chart
from crawler.dashboard.fleet_samples import Sample
from crawler.dashboard.html import tag
from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient_parsing import moment_of
from scrapy_seine.reads.outcome_history import HOURS, MINUTES, TENS, Grain, Minute, read_steps

_MINUTE_S = 60
_DAY_S = 86400
#: Least number of points in the plot of a young crawl.
_MIN_POINTS = 30


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Range(Value):
    """The time range and resolution of a plot."""

    name: str
    grain: Grain
    steps: int
    """Steps of the grain."""
    steps_a_point: int = 1
    """Number of steps that are summed to one point."""

    @property
    def step_s(self) -> int:
        """Seconds of one point."""
        return self.grain.step_s * self.steps_a_point

    @property
    def slug(self) -> str:
        """Name within a URL."""
        return self.name.replace(" ", "")


RANGES = (
    Range(name="5 min", grain=TENS, steps=30),
    Range(name="1 h", grain=TENS, steps=360),
    Range(name="24 h", grain=MINUTES, steps=1440, steps_a_point=10),
    Range(name="7 d", grain=HOURS, steps=168),
)
DEFAULT_RANGE = RANGES[1]


async def read_range(redis: Redis, keys: Keys, plot_range: Range, now_s: float) -> list[Minute]:
    """Read a range's points, oldest first, without the current one.

    Raises:
        RedisError: Redis does not answer.
    """
    steps = plot_range.steps + plot_range.steps_a_point + 1
    rows = await read_steps(redis, keys, plot_range.grain, now_s, steps)
    # The last point is not over: its sum would be drawn as that of a whole one.
    end_s = now_s // plot_range.step_s * plot_range.step_s
    points = [p for p in sum_steps(rows, plot_range.step_s) if p.at < end_s]
    if plot_range.grain is TENS:
        points = smooth(points)
    return young(points[-plot_range.steps // plot_range.steps_a_point :], _MIN_POINTS)


def sum_steps(steps: Sequence[Minute], step_s: int) -> list[Minute]:
    """Sum steps to longer ones.

    >>> [(m.at, m.done) for m in sum_steps([Minute(0, done=1), Minute(60, done=2)], 120)]
    [(0, 3.0)]
    """
    sums: dict[int, Minute] = {}
    for step in steps:
        start_s = step.at // step_s * step_s
        sums[start_s] = (
            _sum([sums[start_s], step], start_s)
            if start_s in sums
            else attrs.evolve(step, at=start_s)
        )
    return list(sums.values())


def smooth(steps: Sequence[Minute]) -> list[Minute]:
    """Average each step with its neighbours.

    A worker reports every ten seconds, so that one step may have two reports and the next one none.

    >>> [m.done for m in smooth([Minute(0), Minute(10, done=6), Minute(20)])]
    [3.0, 2.0, 3.0]
    """
    smoothed = []
    for n, step in enumerate(steps):
        neighbours = steps[max(n - 1, 0) : n + 2]
        summed = _sum(neighbours, step.at)
        smoothed.append(
            Minute(step.at, **{name: _count(summed, name) / len(neighbours) for name in _COUNTS})
        )
    return smoothed


_COUNTS = ("done", "retry", "bury", "items", "answers", "took_ms")


def _count(step: Minute, name: str) -> float:
    return float(getattr(step, name))


def _sum(steps: Sequence[Minute], at: int) -> Minute:
    return Minute(at, **{name: sum(_count(step, name) for step in steps) for name in _COUNTS})


def young(points: Sequence[Minute], min_points: int) -> list[Minute]:
    """Cut the empty time before a crawl, but return at least *min_points* points.

    >>> [m.done for m in young([Minute(n, done=n > 2) for n in range(5)], 3)]
    [False, True, True]
    """
    start = next((n for n, point in enumerate(points) if point.done or point.retry), 0)
    return list(points[min(max(start - 1, 0), max(len(points) - min_points, 0)) :])


def plots(points: Sequence[Minute], samples: Sequence[Sample | None], step_s: int) -> Markup:
    """Draw all plots over the same points."""
    times = [point.at for point in points]
    marks = _marks(times, step_s)

    def chart(name: str, *lines: Series, unit: str = "", least_top: float = 0.0) -> Markup:
        last_value = next((value for value in reversed(lines[0].values) if value is not None), None)
        now = f"{axis_text(last_value)}{unit}" if last_value is not None and len(lines) == 1 else ""
        return line_chart(name, lines, marks, unit=unit, times=times, now=now, least_top=least_top)

    def rate(count_of: Callable[[Minute], float]) -> list[float | None]:
        return [_MINUTE_S * count_of(point) / step_s for point in points]

    return tag.div(
        chart("Pages a minute", Series("Pages", rate(lambda m: m.done))),
        chart("Products a minute", Series("Products", rate(lambda m: m.items))),
        chart("Success", Series("Success", list(map(_success, points))), unit=" %", least_top=100),
        chart("Response time", Series("Response", list(map(_mean_ms, points))), unit=" ms"),
        chart(
            "Requests by state",
            *(
                Series(name, [getattr(s, name) if s else None for s in samples])
                for name in ("ready", "delayed", "leased")
            ),
        ),
        chart("Failed tries a minute", Series("Failed", rate(lambda m: m.retry + m.bury))),
        class_="plots",
    )


def _success(point: Minute) -> float | None:
    ended_count = point.done + point.retry + point.bury
    return 100 * point.done / ended_count if ended_count else None


def _mean_ms(point: Minute) -> float | None:
    return point.took_ms / point.answers if point.answers else None


def _marks(times: Sequence[int], step_s: int) -> list[str]:
    """Return the labels for start, middle and end, in UTC."""
    span_s = times[-1] - times[0] + step_s
    pattern = "%a %H:%M" if span_s > _DAY_S else "%H:%M:%S" if step_s < _MINUTE_S else "%H:%M"
    start, middle = moment_of(times[0]), moment_of(times[len(times) // 2])
    return [
        f"{start:{pattern}}",
        f"{middle:{pattern}}",
        f"{moment_of(times[-1] + step_s):{pattern}} UTC",
    ]
