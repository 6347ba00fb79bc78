"""The limits beyond which a clock's skew is reported, and the findings. Pure."""

from __future__ import annotations

from crawler.reads.doctor.finding import Finding
from scrapy_seine.reads.formatting import span

#: A larger skew confuses readers of logs and ages, s.
SKEW_S = 1.0
#: The same limit where the skew includes the round trip of the reading, s.
ROUGH_SKEW_S = 2.0
_ADVICE = {
    "Redis": "run NTP on both machines; leases and delays go by Redis' clock",
    "PostgreSQL": "run NTP on both machines: a newer page wins by its time",
}


def clock_findings(skew_s: float, store: str) -> list[Finding]:
    """Judge the skew: this machine's clock minus that of *store* (`Redis` or `PostgreSQL`).

    >>> [finding.text for finding in clock_findings(-90, "Redis")]
    ["this machine's clock is 1 min 30 s behind Redis'"]
    >>> clock_findings(0.9, "PostgreSQL")
    []
    """
    if abs(skew_s) <= SKEW_S:
        return []
    side = "ahead of" if skew_s > 0 else "behind"
    whose = f"{store}'" if store.endswith("s") else f"{store}'s"
    text = f"this machine's clock is {span(abs(skew_s))} {side} {whose}"
    return [Finding("warn", "clock", text, _ADVICE[store])]
