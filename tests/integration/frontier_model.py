"""What the state machine of the frontier believes."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from scrapy_seine.frontier.model import Lease, Push


@attrs.define
class Known:
    """Where the model believes a request to be."""

    name: str
    domain: str
    state: Literal["ready", "delayed", "leased", "dead", "done"] = "ready"
    due: int = 0
    lease: Lease | None = None
    worker: str = ""
    expires: int = 0
    landed: bool = False
    deliveries: int = 0
    alone: int = 0
    """Deaths of workers that tried it alone."""
    isolated: str = ""
    """The token under which it is tried so."""


@attrs.define
class Way:
    """Links on their way from one partition to another."""

    pushes: list[Push] = attrs.Factory(list)
    arrived: int = 0
    """So many of the first ones are there, and have not left yet."""
    heads: list[Any] = attrs.Factory(list)
    """What somebody brought before."""
