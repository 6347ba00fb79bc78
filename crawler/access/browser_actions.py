"""Actions on a page in the browser before it is read: `meta["render"]`, or SEINE_RENDER."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

#: Seconds to wait for a page's last requests, if the plan names no element.
_IDLE_S = 5.0
_SCROLLS = 8


async def behave(page: Page, plan: dict[str, Any]) -> None:
    """Wait for the page's content, then move the mouse and scroll if *plan* has these flags.

    *plan*: `wait_for` a CSS selector, `wait_s` its limit in seconds, `scroll` and `mouse` flags.
    An element that does not appear in time is no error, because the page is judged afterwards.
    """
    if "html" not in await page.evaluate("document.contentType"):
        return  # a text or a picture never has elements
    limit_ms = float(plan.get("wait_s") or _IDLE_S) * 1000
    with contextlib.suppress(PlaywrightTimeout):
        if plan.get("wait_for"):
            await page.wait_for_selector(str(plan["wait_for"]), state="attached", timeout=limit_ms)
        else:
            await page.wait_for_load_state("networkidle", timeout=limit_ms)
    if plan.get("mouse"):
        await _move_mouse(page)
    if plan.get("scroll"):
        await _scroll(page)


async def _move_mouse(page: Page) -> None:
    for _ in range(random.randint(2, 4)):
        x, y = random.uniform(50, 1100), random.uniform(50, 600)
        await page.mouse.move(x, y, steps=random.randint(8, 20))
        await asyncio.sleep(random.uniform(0.05, 0.2))


async def _scroll(page: Page) -> None:
    """Scroll down to the bottom of the page."""
    for _ in range(_SCROLLS):
        await page.mouse.wheel(0, random.uniform(500, 900))
        await asyncio.sleep(random.uniform(0.1, 0.3))
        is_at_bottom = "window.scrollY + window.innerHeight >= document.body.scrollHeight - 2"
        if await page.evaluate(is_at_bottom):
            return
