"""Holds the redirects of a page in Chromium, which Playwright follows without asking.

Each is a request to a site, so it waits for a slot as the page's documents do. Firefox has no such
protocol: what its redirects ask is recorded, and not held.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

#: Of a page's documents, before they are asked for.
_DOCUMENTS = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}


async def hold_redirects(page: Page, may_follow: Callable[[str], Awaitable[bool]]) -> None:
    """Follow a redirect of the page's document once *may_follow* returns, unless it returns no."""
    session = await page.context.new_cdp_session(page)
    target = await session.send("Target.getTargetInfo")
    main_frame = target["targetInfo"]["targetId"]

    async def decide(event: dict[str, Any]) -> None:
        is_redirect = "redirectedRequestId" in event and event["frameId"] == main_frame
        answer = {"requestId": event["requestId"]}
        with contextlib.suppress(PlaywrightError):  # the page was closed meanwhile
            if not is_redirect or await may_follow(str(event["request"]["url"])):
                await session.send("Fetch.continueRequest", answer)
            else:
                await session.send(
                    "Fetch.failRequest", {**answer, "errorReason": "BlockedByClient"}
                )

    session.on("Fetch.requestPaused", decide)
    await session.send("Fetch.enable", {"patterns": [_DOCUMENTS]})
