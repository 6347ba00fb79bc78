"""Dead letters: filter them, show one, replay or remove some."""

from __future__ import annotations

import orjson
from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import action_form, address, hidden_token, link, moment, page, table
from scrapy_seine.reads.dead_letters import Filter, domain_of, one_dead, reason_of, search_dead
from scrapy_seine.reads.formatting import count
from scrapy_seine.reads.requests import FoundRequest, shown_request

MAX_LETTERS = 100


async def dead(request: web.Request) -> web.Response:
    """List dead letters, the newest first."""
    context, query = context_of(request), request.query
    letter_filter = Filter(
        reason=query.get("reason", ""), domain=query.get("in", ""), text=query.get("text", "")
    )
    letters, is_complete = await search_dead(context.frontier, letter_filter, limit=MAX_LETTERS)
    total = (await context.frontier.counts()).dead
    return page(
        request,
        "Dead letters",
        tag.p(f"{count(total)} in all. {_extent_text(len(letters), is_complete)}"),
        _filter(letter_filter),
        _list(request, letters, letter_filter) if letters else tag.p(_empty_text(total)),
    )


def _empty_text(total: int) -> str:
    """Return why the list is empty."""
    return "No dead letter matches." if total else "No request was given up."


def _extent_text(shown_count: int, is_complete: bool) -> str:
    return (
        f"Shown: {shown_count}." if is_complete else f"Shown: the newest {shown_count} that match."
    )


def _filter(letter_filter: Filter) -> Node:
    fields = (("reason", "Reason", letter_filter.reason), ("in", "Domain", letter_filter.domain))
    inputs = [
        tag.label(label, " ", tag.input(name=name, id=f"f-{name}", value=value), for_=f"f-{name}")
        for name, label, value in (*fields, ("text", "In URL or error", letter_filter.text))
    ]
    return tag.form(inputs, tag.button("Filter", class_="main"), method="get", role="search")


def _list(request: web.Request, letters: list[FoundRequest], letter_filter: Filter) -> Node:
    names = ("Pick", "Buried (UTC)", "Reason", "Error", "URL")
    letters_table = table("Newest first", names, [_row(letter) for letter in letters], words=5)
    buttons = [
        tag.button(label, formaction=f"/do/{verb}", class_=f"verb-{verb}")
        for verb, label in (("replay", "Try the ticked again"), ("purge", "Remove the ticked"))
    ]
    back = tag.input(type="hidden", name="back", value=request.path_qs)
    form = tag.form(
        hidden_token(request),
        back,
        letters_table,
        tag.div(buttons, class_="actions"),
        method="post",
        action="/do/replay",
    )
    all_forms = [
        _form_for_all(request, "replay", "Try all matching again", letter_filter),
        _form_for_all(request, "purge", "Remove all matching", letter_filter),
    ]
    return [form, tag.div(all_forms, class_="actions")]


def _form_for_all(request: web.Request, verb: str, label: str, letter_filter: Filter) -> Node:
    hidden = {
        "all": "yes",
        "reason": letter_filter.reason,
        "in": letter_filter.domain,
        "text": letter_filter.text,
    }
    return action_form(request, verb, label, **hidden)


def _row(letter: FoundRequest) -> tuple[Node, ...]:
    checkbox = tag.input(
        type="checkbox", name="id", value=letter.id, aria_label=f"Choose {letter.url}"
    )
    return (
        checkbox,
        tag.a(moment(letter.at), href=f"/dead/{letter.id}"),
        reason_of(letter),
        str(letter.note.get("error", ""))[:300],
        link(letter.url),
    )


async def letter(request: web.Request) -> web.Response:
    """Show one dead letter: its reason, its time, and the stored request."""
    id_ = request.match_info["id"]
    stored_letter = await one_dead(context_of(request).frontier, id_)
    if stored_letter is None:
        raise web.HTTPNotFound(text="This dead letter is not there any more.\n")
    dead_letter, blob = stored_letter
    domain = domain_of(dead_letter.url)
    return page(
        request,
        f"Dead letter {dead_letter.id}",
        tag.p(link(dead_letter.url)),
        table("Why it was given up", ("Field", "Value"), _facts(dead_letter), words=2),
        tag.p(
            tag.a("Its history", href=address("frontier", url=dead_letter.url)),
            " · ",
            tag.a("Its domain", href=address("domains", domain)),
            " · ",
            tag.a(
                "Others like it",
                href=address("dead", reason=reason_of(dead_letter), **{"in": domain}),
            ),
        ),
        tag.div(
            action_form(request, "replay", "Try it again", id=dead_letter.id),
            action_form(request, "purge", "Remove it", id=dead_letter.id),
            class_="actions",
        ),
        tag.h2("The request"),
        tag.pre(
            orjson.dumps(shown_request(blob), default=str, option=orjson.OPT_INDENT_2).decode(),
            tabindex="0",
        ),
    )


def _facts(dead_letter: FoundRequest) -> list[tuple[Node, ...]]:
    note = {name: value for name, value in dead_letter.note.items() if name not in {"url", "at"}}
    facts: list[tuple[Node, ...]] = [
        ("buried (UTC)", moment(dead_letter.at)),
        ("made (UTC)", moment(dead_letter.created)),
        ("retries", str(dead_letter.retries)),
    ]
    return [*facts, *((name, str(value)) for name, value in note.items() if name != "retries")]
