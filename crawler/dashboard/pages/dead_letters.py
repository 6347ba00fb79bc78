"""Dead letters: filter them, look at one, send some back or remove them."""

from __future__ import annotations

import orjson
from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import action_form, address, hidden_token, link, moment, page, table
from scrapy_seine.reads.dead_letters import Filter, host_of, one_dead, reason_of, search_dead
from scrapy_seine.reads.fleet import stored_fields
from scrapy_seine.reads.formatting import count
from scrapy_seine.reads.requests import Found

SHOWN = 100


async def dead(request: web.Request) -> web.Response:
    """List dead letters, the newest first."""
    context, query = context_of(request), request.query
    wanted = Filter(
        reason=query.get("reason", ""), domain=query.get("in", ""), text=query.get("text", "")
    )
    letters, all_seen = await search_dead(context.frontier, wanted, limit=SHOWN)
    total = (await context.frontier.counts()).dead
    return page(
        request,
        "Dead letters",
        tag.p(f"{count(total)} in all. {_extent(len(letters), all_seen)}"),
        _filter(wanted),
        _list(request, letters, wanted) if letters else tag.p(_none(total)),
    )


def _none(total: int) -> str:
    """Say why the list is empty."""
    return "No dead letter matches." if total else "No request was given up."


def _extent(shown: int, all_seen: bool) -> str:
    return f"Shown: {shown}." if all_seen else f"Shown: the newest {shown} that match."


def _filter(wanted: Filter) -> Node:
    fields = (("reason", "Reason", wanted.reason), ("in", "Domain", wanted.domain))
    inputs = [
        tag.label(label, " ", tag.input(name=name, id=f"f-{name}", value=value), for_=f"f-{name}")
        for name, label, value in (*fields, ("text", "In URL or error", wanted.text))
    ]
    return tag.form(inputs, tag.button("Filter", class_="main"), method="get", role="search")


def _list(request: web.Request, letters: list[Found], wanted: Filter) -> Node:
    names = ("Pick", "Buried (UTC)", "Reason", "Error", "URL")
    listed = table("Newest first", names, [_row(letter) for letter in letters], words=5)
    verbs = [
        tag.button(label, formaction=f"/do/{verb}", class_=f"verb-{verb}")
        for verb, label in (("replay", "Try the ticked again"), ("purge", "Remove the ticked"))
    ]
    back = tag.input(type="hidden", name="back", value=request.path_qs)
    ticks = tag.form(
        hidden_token(request),
        back,
        listed,
        tag.div(verbs, class_="actions"),
        method="post",
        action="/do/replay",
    )
    every = [
        _all(request, "replay", "Try all matching again", wanted),
        _all(request, "purge", "Remove all matching", wanted),
    ]
    return [ticks, tag.div(every, class_="actions")]


def _all(request: web.Request, verb: str, label: str, wanted: Filter) -> Node:
    hidden = {"all": "yes", "reason": wanted.reason, "in": wanted.domain, "text": wanted.text}
    return action_form(request, verb, label, **hidden)


def _row(letter: Found) -> tuple[Node, ...]:
    tick = tag.input(type="checkbox", name="id", value=letter.id, aria_label=f"Choose {letter.url}")
    return (
        tick,
        tag.a(moment(letter.at), href=f"/dead/{letter.id}"),
        reason_of(letter),
        str(letter.note.get("error", ""))[:300],
        link(letter.url),
    )


async def letter(request: web.Request) -> web.Response:
    """Show one dead letter: why, when, and the request as it is stored."""
    id_ = request.match_info["id"]
    found = await one_dead(context_of(request).frontier, id_)
    if found is None:
        raise web.HTTPNotFound(text="This dead letter is not there any more.\n")
    shown, stored = found
    host = host_of(shown.url)
    return page(
        request,
        f"Dead letter {shown.id}",
        tag.p(link(shown.url)),
        table("Why it was given up", ("Field", "Value"), _facts(shown), words=2),
        tag.p(
            tag.a("Its history", href=address("frontier", url=shown.url)),
            " · ",
            tag.a("Its domain", href=address("domains", host)),
            " · ",
            tag.a("Others like it", href=address("dead", reason=reason_of(shown), **{"in": host})),
        ),
        tag.div(
            action_form(request, "replay", "Try it again", id=shown.id),
            action_form(request, "purge", "Remove it", id=shown.id),
            class_="actions",
        ),
        tag.h2("The request"),
        tag.pre(_pretty(stored_fields(stored)), tabindex="0"),
    )


def _facts(shown: Found) -> list[tuple[Node, ...]]:
    note = {name: value for name, value in shown.note.items() if name not in {"url", "at"}}
    facts: list[tuple[Node, ...]] = [
        ("buried (UTC)", moment(shown.at)),
        ("made (UTC)", moment(shown.created)),
        ("retries", str(shown.retries)),
    ]
    return [*facts, *((name, str(value)) for name, value in note.items() if name != "retries")]


def _pretty(fields: dict[str, object]) -> str:
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(fields, default=_plain, option=options).decode()


def _plain(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
