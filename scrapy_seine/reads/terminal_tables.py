"""The fleet as tables for a terminal. Pure: values in, rich renderables out."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_seine.frontier.runs import Run
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.domains import Domain
from scrapy_seine.reads.fleet import Fleet, Worker
from scrapy_seine.reads.formatting import count, pause, share, size, span
from scrapy_seine.reads.overview import Overview

_BARS = "▁▂▃▄▅▆▇█"
_STATES = {"ready": "green", "waiting": "blue", "paused": "yellow", "busy": "cyan", "idle": "dim"}


def spark(values: Sequence[float]) -> str:
    """Draw values as a row of bars.

    >>> spark([0, 4, 8])
    '▁▄█'
    """
    top = max(values, default=0) or 1
    return "".join(_BARS[int((len(_BARS) - 1) * value / top)] for value in values)


def headline(overview: Overview) -> lazy_rich.Text:
    """Summarise the crawl's state in one line."""
    fleet = overview.fleet
    if fleet.counts.paused:
        return lazy_rich.Text(f"crawl {fleet.crawl} is paused", style="bold yellow")
    if not fleet.counts.undone:
        return lazy_rich.Text(f"crawl {fleet.crawl} has nothing left to do", style="bold")
    if not fleet.alive:
        return lazy_rich.Text(f"crawl {fleet.crawl} has work and no worker", style="bold red")
    text = f"crawl {fleet.crawl} runs, {span(overview.eta_s)} left"
    return lazy_rich.Text(
        text if overview.eta_s is not None else f"crawl {fleet.crawl} runs", "bold green"
    )


def status(overview: Overview) -> lazy_rich.RenderableType:
    """Lay out the overview on one screen."""
    parts: list[lazy_rich.RenderableType] = [
        headline(overview),
        _beside(_requests(overview.fleet), _speed(overview), _stores(overview.fleet)),
    ]
    if overview.runs:
        parts.append(runs(overview.runs, overview.fleet.at))
    if overview.domains:
        parts.append(domains(overview.domains))
    if overview.fleet.workers:
        parts.append(workers(overview.fleet))
    if overview.reasons:
        parts.append(reasons(overview))
    return lazy_rich.Group(*parts)


def _beside(*parts: lazy_rich.RenderableType) -> lazy_rich.Columns:
    """Place parts beside each other, or below each other if the terminal is narrow."""
    return lazy_rich.Columns(parts, padding=(0, 1))


def _pairs(title: str, rows: Sequence[tuple[str, str]]) -> lazy_rich.Panel:
    table = lazy_rich.Table.grid(padding=(0, 1))
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, value in rows:
        table.add_row(name, lazy_rich.Text(value))
    return lazy_rich.Panel(table, title=title, expand=False)


def _requests(fleet: Fleet) -> lazy_rich.Panel:
    counts = fleet.counts
    rows = [
        ("ready", count(counts.ready)),
        ("due now", count(fleet.due_now)),
        ("delayed", count(counts.delayed)),
        ("leased", count(counts.leased)),
        ("dead", count(counts.dead)),
        ("done", count(counts.totals.get("done", 0))),
        ("seen", count(counts.seen)),
    ]
    return _pairs("requests", rows)


def _speed(overview: Overview) -> lazy_rich.Panel:
    fleet = overview.fleet
    rows = [
        ("pages/min", count(overview.pages_a_minute)),
        ("last 12 min", spark([m.done for m in overview.minutes[-12:]])),
        ("success", share(overview.success)),
        ("workers", count(len(fleet.alive))),
        ("time left", span(overview.eta_s)),
        ("next one's age", span(fleet.oldest_s)),
        ("overdue by", span(fleet.lateness_s)),
    ]
    return _pairs("speed", rows)


def _stores(fleet: Fleet) -> lazy_rich.Panel:
    limit = size(fleet.memory_limit_bytes) if fleet.memory_limit_bytes else "none"
    rows = [
        ("Redis memory", size(fleet.memory_bytes)),
        ("its limit", limit),
        ("clock off by", span(abs(fleet.clock_skew_s))),
        ("sites ready", count(fleet.counts.domains_ready)),
        ("sites waiting", count(fleet.counts.domains_waiting)),
        ("read in", f"{1000 * fleet.read_s:.0f} ms"),
    ]
    return _pairs("stores", rows)


def _table(title: str, columns: Sequence[str], text_columns: int = 1) -> lazy_rich.Table:
    """Make a table; the first *text_columns* columns hold text, the others numbers."""
    table = lazy_rich.Table(title=title, title_justify="left", title_style="bold", box=None)
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index < text_columns else "right", overflow="fold")
    return table


def runs(rows: Sequence[Run], now_s: float) -> lazy_rich.Table:
    """Make a table of the latest runs, the newest first, each with its outcomes."""
    table = _table("Runs", ("run", "name", "begun before", "done", "given up"), text_columns=2)
    for run in rows:
        outcomes = (count(run.totals.get(word, 0)) for word in ("done", "buried"))
        table.add_row(str(run.number), lazy_rich.Text(run.name), span(now_s - run.at), *outcomes)
    closings = [
        f"run {run.number}: its spider ended it: {run.closed}" for run in rows if run.closed
    ]
    table.caption, table.caption_justify = lazy_rich.Text("\n".join(closings)), "left"
    return table


def domains(rows: Sequence[Domain]) -> lazy_rich.Table:
    """Make a table of domains."""
    names = ("domain", "state", "queued", "active", "delay", "due in", "done", "success")
    table = _table("Busiest domains", names, text_columns=2)
    for d in rows:
        cells = (count(d.queued), f"{d.active}/{d.concurrency}", pause(d.delay_ms, d.delay_max_ms))
        outcomes = (span(d.due_in_s), count(d.done), share(d.success))
        state = lazy_rich.Text(d.state, style=_STATES[d.state])
        table.add_row(lazy_rich.Text(d.name), state, *cells, *outcomes)
    return table


def workers(fleet: Fleet) -> lazy_rich.Table:
    """Make a table of workers, each with its share of the pages."""
    names = ("worker", "heartbeat", "pages", "share", "pages/min", "items", "active", "buffered")
    table = _table("Workers", names, text_columns=2)
    total = sum(worker.pages for worker in fleet.workers) or 1
    for worker in fleet.workers:
        table.add_row(*_worker(worker, total, fleet.at))
    waits = [f"{worker.name}: {worker.waits}" for worker in fleet.workers if worker.waits]
    table.caption, table.caption_justify = lazy_rich.Text("\n".join(waits)), "left"
    return table


def _worker(worker: Worker, total: int, now_s: float) -> tuple[lazy_rich.RenderableType, ...]:
    beat = lazy_rich.Text("fresh", "green") if worker.alive else lazy_rich.Text("missing", "red")
    numbers = (
        count(worker.pages),
        share(worker.pages / total),
        count(worker.rate(now_s)),
        count(worker.items),
        count(worker.active),
        count(worker.buffered),
    )
    return lazy_rich.Text(worker.name), beat, *numbers


def reasons(overview: Overview) -> lazy_rich.Table:
    """Make a table of the reasons of the newest dead letters."""
    table = _table("Given up lately, by reason", ("reason", "requests"))
    for reason, n in overview.reasons.items():
        table.add_row(lazy_rich.Text(reason), count(n))
    return table


def bar(part: float, width: int = 60) -> str:
    """Draw a share as a bar.

    >>> bar(0.5, width=8)
    '━━━━╌╌╌╌'
    """
    filled = round(width * min(max(part, 0.0), 1.0))
    return "━" * filled + "╌" * (width - filled)


def progress(overview: Overview, left: str = "") -> lazy_rich.RenderableType:
    """Show how much of the known work is done, on three lines; *left* is the time to its end."""
    counts = overview.fleet.counts
    done, dead = counts.totals.get("done", 0), counts.dead
    total = done + dead + counts.undone
    numbers = f"{count(done)} of {count(total)} done, {count(counts.undone)} to do"
    speed = f"{count(overview.pages_a_minute)} pages/min by {len(overview.fleet.alive)} workers"
    remainder = f"{count(dead)} given up, {left or span(overview.eta_s)} left"
    return lazy_rich.Group(
        headline(overview),
        lazy_rich.Text(bar((done + dead) / max(total, 1)), style="green"),
        lazy_rich.Text(f"{numbers} · {speed} · {remainder}"),
    )
