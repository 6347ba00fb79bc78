"""A robots.txt as the project's own parser reads it (ROBOTSTXT_PARSER), and who is told of it."""

from __future__ import annotations

import logging
from typing import Any

import attrs
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_seine.engine.fastpath.signals import Signals
from scrapy_seine.politeness.robots_rules import Robots

logger = logging.getLogger(__name__)
SCRAPYS = "scrapy.robotstxt.ProtegoRobotParser"


@attrs.define(eq=False, repr=False)
class ParsedByProject(Robots):
    """Rules that the project's parser judges; the site's pause is read as everywhere."""

    parser: Any = None

    def allows(self, url: str, agent: str) -> bool:
        """Whether the project's parser lets *agent* request *url*."""
        return self.state != "away" and bool(self.parser.allowed(url, agent))

    def is_too_long(self, url: str, agent: str) -> bool:
        """Return False: the project's parser has no limit of ours."""
        return False


class ProjectParser:
    """Takes a robots.txt to the project's parser, and to receivers of `robots_parsed`."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.signals = Signals(crawler)
        self.parser: Any = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self.is_scrapys = self.parser is load_object(SCRAPYS)

    async def read(self, robots: Robots, body: bytes, request: Request) -> Robots | None:
        """Return the rules as the project reads them; *request* needed them.

        None: the project's parser raised, which allows nothing for now.
        """
        has_receivers = self.signals.has_receivers(signals.robots_parsed)
        if robots.state == "away" or (self.is_scrapys and not has_receivers):
            return robots
        try:
            parser = build_from_crawler(self.parser, self.crawler, body)
        except Exception:
            logger.exception(
                "the robots.txt that %s needs waits: ROBOTSTXT_PARSER raised", request.url
            )
            return None
        await self.signals.send_catch_log_async(
            signals.robots_parsed, robotparser=parser, request=request
        )
        if self.is_scrapys:
            return robots
        return ParsedByProject(robots.state, robots.text, parser=parser)
