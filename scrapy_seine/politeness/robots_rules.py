"""What a robots.txt allows (RFC 9309). Pure."""

from __future__ import annotations

from typing import Literal

import attrs
from protego import Protego

from scrapy_seine.politeness import crawl_delay

State = Literal["rules", "free", "away"]
#: Bytes of a robots.txt that are read; a crawler must read at least as many.
SIZE_LIMIT = 500 * 1024
#: Longer lines are left out: no URL that is asked for is as long, in whatever spelling.
_LONGEST_LINE = 16_384
_AGENTS = frozenset({"user-agent", "useragent", "user agent"})
#: What a line may begin with that has no colon, and what concerns the whole site.
_WORDS = ("allow", "d", "crawl", "request", "visit")
_SITE_WIDE = ("sitemap", "site-map", "host")
_TOO_MANY = 429
#: Patterns with a wildcard, times characters of a URL, that are tried: some 20 ms. That is two
#: thousand such patterns on an address of two thousand characters.
_MOST_STEPS = 4_000_000


def state_of(status: int) -> State:
    """What an answer to robots.txt means (RFC 9309, 2.3.1).

    A 429 counts as away although it is a 4xx: a site that asks for less must not be read as one
    that allows all.

    >>> [state_of(s) for s in (200, 404, 403, 302, 429, 500)]
    ['rules', 'free', 'free', 'free', 'away', 'away']
    """
    if 200 <= status < 300:  # noqa: PLR2004
        return "rules"
    return "away" if status >= 500 or status == _TOO_MANY else "free"  # noqa: PLR2004


def away_s(failures: int, *, first_s: float = 5.0, most_s: float = 600.0) -> float:
    """Seconds until a robots.txt that could not be read is asked for again.

    >>> [away_s(n) for n in (0, 1, 6, 7, 500)]
    [5.0, 10.0, 320.0, 600.0, 600.0]
    """
    return min(most_s, first_s * 2.0 ** min(failures, 30))


@attrs.define(eq=False, repr=False)
class Robots:
    """One site's rules."""

    state: State
    text: str = ""
    _rules: dict[str, Protego] = attrs.field(factory=dict, init=False)
    """The rules for each agent that was asked about: one, as a rule."""
    _wildcards: dict[str, int] = attrs.field(factory=dict, init=False)
    """How many of an agent's rules have a wildcard."""

    @classmethod
    def read(cls, state: State, body: bytes) -> Robots:
        """Take a robots.txt; what is no text of rules allows everything."""
        if state != "rules":
            return cls(state)
        return cls(state, body[:SIZE_LIMIT].decode("utf-8-sig", "replace"))

    def _rules_for(self, agent: str) -> Protego:
        rules = self._rules.get(agent)
        if rules is None:
            concerned = rules_for(self.text, agent)
            rules = self._rules[agent] = Protego.parse(concerned)
            lines = concerned.splitlines()[1:]
            self._wildcards[agent] = sum("*" in line for line in lines)
        return rules

    def allows(self, url: str, agent: str) -> bool:
        """Whether *agent* may ask for *url*."""
        if self.state == "away":
            return False
        if self.state == "free":
            return True
        rules = self._rules_for(agent)
        return not self.is_too_long(url, agent) and bool(rules.can_fetch(url, agent))

    def is_too_long(self, url: str, agent: str) -> bool:
        """Whether *url* is forbidden because it cannot be held against so many patterns.

        Each pattern is looked for from the URL's beginning to its end: 30,000 patterns, which fit
        in a robots.txt, and an address of 4,000 characters would take half a second a page.
        """
        return self._wildcards.get(agent, 0) * len(url) > _MOST_STEPS

    def delay_s(self, agent: str) -> float | None:
        """Seconds between two requests that the site asks of *agent*, if it does.

        >>> Robots.read("rules", b"User-agent: *\\nCrawl-delay: 1.5").delay_s("Seine")
        1.5
        >>> Robots.read("rules", b"User-agent: *\\nRequest-rate: 1/4").delay_s("Seine")
        4.0
        """
        if self.state != "rules":
            return None
        return crawl_delay.asked_s(self._rules_for(agent), agent)


def rules_for(text: str, agent: str) -> str:
    """The lines of a robots.txt that concern *agent*, in one group of the name that fits best.

    The parser applies each rule to each name of its group, and keeps all of them: ten thousand
    names over ten thousand rules are a hundred million. Here each line is looked at twice.

    >>> rules_for("User-agent: *\\nDisallow: /x\\n\\nUser-agent: Bot\\nDisallow: /", "bot/1")
    'User-agent: bot\\nDisallow: /'
    """
    lines = [
        line
        for raw in text.splitlines()
        if (line := raw.partition("#")[0].strip()) and len(line) <= _LONGEST_LINE
    ]
    agent = agent.strip().lower()
    names = [name for line in lines for name in _names_in(line) or () if _fit(name, agent)]
    if not names:
        return ""
    best = max(names, key=lambda name: _fit(name, agent))
    kept, is_mine, is_head = [f"User-agent: {best}"], False, False
    for line in lines:
        found = _names_in(line)
        if found is not None:
            is_mine = (is_head and is_mine) or best in found
            is_head = True
        elif _is_rule(line):
            is_head = False
            if is_mine:
                kept.append(line)
    return "\n".join(kept)


def _names_in(line: str) -> tuple[str, ...] | None:
    """The names in a line that begins a group, None in any other line."""
    if line[:1] not in "uU":
        return None
    field, colon, value = line.partition(":")
    if not colon or field.strip().lower() not in _AGENTS:
        words = line.split(None, 2)
        count = 2 if len(words) > 1 and words[1].lower() == "agent" else 1
        if " ".join(words[:count]).lower() not in _AGENTS:
            return None
        value = " ".join(words[count:])
    name = value.strip().lower()
    return tuple(name for name in (name, name.replace("*", "")) if name)


def _fit(name: str, agent: str) -> int:
    """How well a name fits an agent, 0: not at all; the longest part of its words counts."""
    if name == "*":
        return 1
    place = agent.find(name)
    while place > 0 and (agent[place - 1].isalnum() or agent[place - 1] in "-_"):
        place = agent.find(name, place + 1)
    return 0 if place < 0 else len(name)


def _is_rule(line: str) -> bool:
    """Whether a line belongs to a group, and ends the list of its names."""
    low = line[:20].lower()
    return not low.startswith(_SITE_WIDE) and (":" in line or low.startswith(_WORDS))
