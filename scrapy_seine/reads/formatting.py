"""Numbers as people read them."""

from __future__ import annotations

from scrapy_seine.reads.progress import Estimate

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEP = 1024


def count(n: float) -> str:
    """Whole number with thin groups of three.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{n:,.0f}"


def share(part: float | None) -> str:
    """Share as a percentage; a dash where there is none.

    >>> share(0.9876), share(1.0), share(None)
    ('98.8 %', '100 %', '–')
    """
    if part is None:
        return "–"
    return "100 %" if part == 1 else f"{100 * part:.1f} %"


def span(seconds: float | None) -> str:
    """Length of time in its two largest units; a dash if it is unknown.

    >>> span(0.25), span(59), span(3725), span(200000), span(None)
    ('0.2 s', '59 s', '1 h 2 min', '2 d 7 h', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 10:  # noqa: PLR2004  # below this the tenths matter
        return f"{seconds:.1f} s"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"
    if seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
    return f"{seconds // _DAY:.0f} d {seconds % _DAY // _HOUR:.0f} h"


def pause(least_ms: int, most_ms: int) -> str:
    """Pause between two requests, as a range where pauses are random.

    >>> pause(500, 1500), pause(500, 500)
    ('500–1500 ms', '500 ms')
    """
    return f"{least_ms}–{most_ms} ms" if most_ms > least_ms else f"{least_ms} ms"


def time_left(estimate: Estimate | None) -> str:
    """Format when a job may be over; with a sign if its total still grows.

    >>> time_left(Estimate(rate=1.0, eta_s=90.0, growing=True)), time_left(None)
    ('> 1 min 30 s, grows', '–')
    """
    if estimate is None or estimate.eta_s is None:
        return "–"
    return f"> {span(estimate.eta_s)}, grows" if estimate.growing else span(estimate.eta_s)


def size(n: float) -> str:
    """Bytes in the unit that fits.

    >>> size(512), size(1536), size(3 * 1024**3)
    ('512 B', '1.5 KiB', '3.0 GiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < _STEP or unit == "GiB":
            return f"{n:.0f} B" if unit == "B" else f"{n:.1f} {unit}"
        n /= _STEP
    raise AssertionError
