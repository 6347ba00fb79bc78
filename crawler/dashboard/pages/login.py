"""Login and logout of a dashboard with a token."""

from __future__ import annotations

import asyncio
import logging

from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import tag
from crawler.dashboard.layout import page, refusal
from crawler.dashboard.security import COOKIE, form_of, guess, set_cookie

logger = logging.getLogger(__name__)
#: Delay of the response to a wrong token, seconds.
PAUSE_S = 0.5


async def show_login(request: web.Request) -> web.Response:
    """Show the form."""
    return _form(request)


def _form(request: web.Request, complaint: str = "") -> web.Response:
    field = tag.input(
        type="password", name="token", id="token", required=True, autocomplete="current-password"
    )
    return page(
        request,
        "Log in",
        refusal(complaint) if complaint else None,
        tag.form(
            tag.label("Token", for_="token"),
            field,
            tag.button("Log in"),
            method="post",
            action="/login",
        ),
    )


async def login(request: web.Request) -> web.StreamResponse:
    """Check the token, and start a session."""
    guard = context_of(request).guard
    token = str((await form_of(request)).get("token", ""))
    if not guess(guard, request, token):
        await asyncio.sleep(PAUSE_S)
        response = _form(request, "That is not the token.")
        response.set_status(403)
        return response
    logger.info("%s logged in", request.remote)
    redirect = web.HTTPSeeOther("/")
    set_cookie(request, redirect, guard.new_session("operator"))
    raise redirect


async def logout(request: web.Request) -> web.StreamResponse:
    """End the session in this browser."""
    redirect = web.HTTPSeeOther("/login")
    redirect.del_cookie(COOKIE)
    raise redirect
