"""What a robots.txt allows (RFC 9309). Pure."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE

import attrs
from protego import Protego

from scrapy_seine.politeness import crawl_delay
from scrapy_seine.politeness.robots_status import State

#: Bytes of a robots.txt that are parsed; RFC 9309 requires at least as many.
SIZE_LIMIT = 500 * 1024
#: Longer lines are skipped, because no requested URL is as long in any spelling.
_LONGEST_LINE = 16_384
_AGENTS = frozenset({"user-agent", "useragent", "user agent"})
#: How the lines of a group begin. Others, as `Host` or an unknown one, end no list of names.
_RULES = ("allow", "d", "crawl", "request", "visit")
#: RFC 9309, 2.2: other characters that Python takes for the end of a line end none.
_LINE_ENDS = re.compile(r"[\r\n]+")
#: Addresses in an agent's name, whose words are no names.
_ADDRESS = re.compile(r"\+?https?://\S*|\S+@\S+", re.IGNORECASE)
#: Limit of wildcard patterns times characters of a URL: some 20 ms, which is two thousand such
#: patterns on a URL of two thousand characters.
_MOST_STEPS = 4_000_000
#: Agents whose rules are kept: a project may send each request by another name.
_MOST_AGENTS = 100


@attrs.define(eq=False, repr=False)
class Robots:
    """One site's rules."""

    state: State
    text: str = ""
    _rules: dict[str, Protego] = attrs.field(factory=dict, init=False)
    """The parsed rules by agent, usually one."""
    _wildcards: dict[str, int] = attrs.field(factory=dict, init=False)
    """Number of an agent's rules with a wildcard."""

    @classmethod
    def parse(cls, state: State, body: bytes) -> Robots:
        """Parse a robots.txt; a body that is no text of rules allows everything."""
        if state != "rules":
            return cls(state)
        part = first_part(body)
        if part.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # some editors write it
            return cls(state, part.decode("utf-16", "replace"))
        return cls(state, part.decode("utf-8-sig", "replace"))

    def _rules_for(self, agent: str) -> Protego:
        rules = self._rules.get(agent)
        if rules is None:
            if len(self._rules) >= _MOST_AGENTS:
                self._rules.clear()
                self._wildcards.clear()
            concerned = rules_for(self.text, agent)
            rules = self._rules[agent] = Protego.parse(concerned)
            lines = concerned.splitlines()[1:]
            self._wildcards[agent] = sum("*" in line for line in lines)
        return rules

    def allows(self, url: str, agent: str) -> bool:
        """Whether *agent* may request *url*."""
        if self.state == "away":
            return False
        if self.state == "free":
            return True
        rules = self._rules_for(agent)
        return not self.is_too_long(url, agent) and bool(rules.can_fetch(url, agent))

    def is_too_long(self, url: str, agent: str) -> bool:
        """Whether *url* is forbidden because matching it with all patterns would take too long.

        Each pattern is searched along the whole URL: 30,000 patterns, which fit in a robots.txt,
        and a URL of 4,000 characters would take half a second a page.
        """
        return self._wildcards.get(agent, 0) * len(url) > _MOST_STEPS

    def delay_s(self, agent: str) -> float | None:
        """Seconds between two requests that the site asks of *agent*, if it does.

        >>> Robots.parse("rules", b"User-agent: *\\nCrawl-delay: 1.5").delay_s("Seine")
        1.5
        >>> Robots.parse("rules", b"User-agent: *\\nRequest-rate: 1/4").delay_s("Seine")
        4.0
        """
        if self.state != "rules":
            return None
        return crawl_delay.asked_s(self._rules_for(agent), agent)


def first_part(body: bytes) -> bytes:
    """Return the lines that are parsed, without a line that would be cut: it could allow more.

    >>> first_part(b"Allow: /shop\\n" * 99_999)[-13:]
    b'Allow: /shop\\n'
    """
    if len(body) <= SIZE_LIMIT:
        return body
    return body[: 1 + max(body.rfind(end, 0, SIZE_LIMIT) for end in (b"\n", b"\r"))]


def rules_for(text: str, agent: str) -> str:
    """Return the lines of a robots.txt for *agent*, in one group of the best matching name.

    The parser applies each rule to each name of its group, and keeps all of them: ten thousand
    names with ten thousand rules make a hundred million. Here each line is read twice.

    >>> rules_for("User-agent: *\\nDisallow: /x\\n\\nUser-agent: Bot\\nDisallow: /", "bot/1")
    'User-agent: *\\nDisallow: /'
    """
    lines = [
        line
        for raw in _LINE_ENDS.split(text)
        if (line := raw.partition("#")[0].strip()) and len(line) <= _LONGEST_LINE
    ]
    agent = _plain(agent)
    names = [name for line in lines for name in _names_in(line) or () if _fit(name, agent)]
    if not names:
        return ""
    best_name = max(names, key=lambda name: _fit(name, agent))
    chosen_lines, is_mine, is_head = ["User-agent: *"], False, False
    for line in lines:
        line_names = _names_in(line)
        if line_names is not None:
            is_mine = (is_head and is_mine) or best_name in line_names
            is_head = True
        elif _is_rule(line):
            is_head = False
            if is_mine:
                chosen_lines.append(crawl_delay.plain(line) if line[:1] in "cC" else line)
    return "\n".join(chosen_lines)


def _names_in(line: str) -> tuple[str, ...] | None:
    """Return the names in a line that begins a group, None for any other line."""
    if line[:1] not in "uU":
        return None
    field, colon, value = line.partition(":")
    if not colon or field.strip().lower() not in _AGENTS:
        words = line.split(None, 2)
        count = 2 if len(words) > 1 and words[1].lower() == "agent" else 1
        if " ".join(words[:count]).lower() not in _AGENTS:
            return None
        value = " ".join(words[count:])
    first, *others = value.lower().partition("/")[0].split() or [""]
    # As Google's parser does, which takes `*bot` for no name of all.
    names = [first, " ".join(others)] if first == "*" else [first.replace("*", "")]
    return tuple(filter(None, names))


def concerns(name: str, agent: str) -> bool:
    """Whether a robot's name, as a site writes it, means *agent*.

    >>> [concerns(name, "Seine/2 (+https://bot.example)") for name in ("seine", "*", "bot")]
    [True, True, False]
    """
    return _fit(name.lower(), _plain(agent)) > 0


def _plain(agent: str) -> str:
    return _ADDRESS.sub(" ", agent).strip().lower()


def _fit(name: str, agent: str) -> int:
    """Return how well a name matches an agent, 0: not at all; the longest match counts."""
    if name == "*":
        return 1
    place = agent.find(name)
    while place > 0 and (agent[place - 1].isalnum() or agent[place - 1] in "-_"):
        place = agent.find(name, place + 1)
    return 0 if place < 0 else len(name) + 1


def _is_rule(line: str) -> bool:
    """Whether a line is a rule of a group, and ends the list of its names."""
    return line[:20].lower().startswith(_RULES)
