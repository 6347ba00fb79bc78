"""The frame of every page, and the parts that pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.context import context_of
from crawler.dashboard.crawls import CRAWLS, own_path, same_page
from crawler.dashboard.html import Node, tag
from crawler.dashboard.path_names import piece
from crawler.dashboard.security import FORM_TOKEN, WHO
from scrapy_seine.lenient import moment_of

NAVIGATION = (
    ("/", "Overview"),
    ("/domains", "Domains"),
    ("/workers", "Workers"),
    ("/frontier", "Frontier"),
    ("/dead", "Dead letters"),
    ("/products", "Products"),
    ("/jobs", "Jobs"),
    ("/runs", "Runs"),
    ("/attempts", "Attempts"),
    ("/proxies", "Proxies"),
    ("/quality", "Quality"),
)
#: What is said after each action (crawler.dashboard.actions).
DONE = {
    "pause": "Paused.",
    "resume": "Resumed.",
    "drain": "The worker drains: it exits once its pages are done.",
    "set_delay": "The limits are set.",
    "replay": "Sent back: {n}.",
    "purge": "Removed: {n}.",
    "forget": "Forgotten: {n}.",
    "seed": "The seed is pushed; a worker takes it.",
    "set_priority": "Queued with the new priority: {n}.",
    "start_job": "The full crawl is begun; the coordinator and the workers go on with it.",
    "set_schedule": "The schedule is set.",
    "pause_schedule": "The schedule is paused.",
    "resume_schedule": "The schedule goes on.",
    "remove_schedule": "Schedules removed: {n}.",
    "pause_job": "The job is paused.",
    "resume_job": "The job goes on.",
    "cancel_job": "The job is cancelled.",
}


def page(request: web.Request, title: str, *body: Node, live: str = "") -> web.Response:
    """Put a page's body into the frame; *live* names the event stream that keeps it fresh."""
    head = tag.head(
        tag.meta(charset="utf-8"),
        tag.meta(name="viewport", content="width=device-width, initial-scale=1"),
        tag.title(f"{title} · Seine"),
        tag.link(rel="stylesheet", href="/static/app.css"),
        tag.link(rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tag.script(src="/static/app.js", defer=True),
    )
    frame = tag.body(
        tag.a("To the content", href="#content", class_="skip"),
        _header(request),
        tag.main(tag.h1(title), _flash(request), body, id="content", data_live=live or None),
    )
    text = Markup("<!doctype html>") + tag.html(head, frame, lang="en")
    return web.Response(text=str(text), content_type="text/html")


def _header(request: web.Request) -> Markup:
    here = own_path(request)
    links = [
        tag.li(tag.a(name, href=path, aria_current="page" if _here(here, path) else None))
        for path, name in NAVIGATION
    ]
    leave: Node = None
    if request[WHO] not in {"", "local"}:
        leave = tag.form(
            hidden_token(request), tag.button("Log out"), method="post", action="/logout"
        )
    state = tag.span("", id="stream-state", role="status")
    return tag.header(
        tag.div(
            tag.img(src="/static/icon.svg", alt="", width=22, height=22),
            tag.a(tag.strong("Seine"), href="/"),
            _crawls(request),
            state,
            class_="brand",
        ),
        tag.nav(tag.ul(links), aria_label="Pages"),
        leave,
    )


def _crawls(request: web.Request) -> Markup:
    """Name the crawl, and lead to the same page of each other one."""
    crawl = context_of(request).config.crawl
    others = [name for name in request.app[CRAWLS].names if name != crawl]
    if not others or not request[WHO]:
        return tag.span(crawl)
    path, query = own_path(request), request.query_string
    links = [
        tag.li(tag.a(name, href=same_page(name, path, query), aria_current=current))
        for name, current in ((crawl, "true"), *((name, None) for name in others))
    ]
    chosen = tag.summary(crawl, aria_label=f"Crawl {crawl}: choose another")
    return tag.details(chosen, tag.ul(links), class_="crawls")


def _here(path: str, link: str) -> bool:
    return path == link or (link != "/" and path.startswith(f"{link}/"))


def _flash(request: web.Request) -> Node:
    text = DONE.get(request.query.get("done", ""))
    if text is None:
        return None
    n = request.query.get("n", "0")
    return tag.p(text.format(n=n if n.isdecimal() else "0"), class_="flash", role="status")


def refusal(reason: object) -> Markup:
    """Say why something was not done, in another colour than what was."""
    return tag.p(str(reason), class_="flash bad", role="alert")


def hidden_token(request: web.Request) -> Markup:
    """What each form carries."""
    return tag.input(type="hidden", name="form_token", value=request[FORM_TOKEN])


def action_form(
    request: web.Request, verb: str, label: str, /, *fields: Node, **hidden: Any
) -> Markup:
    """Make a form of one button; it leads to a page that asks first."""
    inputs = [tag.input(type="hidden", name=name, value=value) for name, value in hidden.items()]
    back = tag.input(type="hidden", name="back", value=request.path_qs)
    button = tag.button(label, class_=f"verb-{verb}")
    return tag.form(
        hidden_token(request),
        back,
        inputs,
        fields,
        button,
        method="post",
        action=f"/do/{verb}",
        class_="action",
    )


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Node]],
    *,
    words: int = 1,
    empty: Node = "Nothing here.",
    class_: str = "",
) -> Markup:
    """Make a table; the first *words* columns are text, the others numbers.

    *empty* is shown where there is no row: best with the command that makes one. On a phone each
    row becomes a block, in which a cell carries its column's name.
    """

    def kind(at: int) -> str | None:
        return None if at < words else "number"

    head = tag.tr([tag.th(name, scope="col", class_=kind(i)) for i, name in enumerate(columns)])
    body = [
        tag.tr(
            [
                tag.td(cell, class_=kind(i), data_label=columns[i] if i else None)
                for i, cell in enumerate(row)
            ]
        )
        for row in rows
    ]
    if not body:
        body = [tag.tr(tag.td(empty, colspan=len(columns), class_="empty"))]
    inner = tag.table(tag.caption(caption), tag.thead(head), tag.tbody(body), class_=class_ or None)
    return tag.div(inner, class_="scroll", role="region", aria_label=caption, tabindex="0")


def tiles(values: Iterable[tuple[str, str]], *, words: bool = False) -> Markup:
    """Show a few numbers large; *words* are shown smaller."""
    shown = [tag.div(tag.dt(name), tag.dd(value)) for name, value in values]
    return tag.dl(shown, class_="tiles words" if words else "tiles")


def badge(text: str, mood: str = "") -> Markup:
    """Show a state as a coloured word."""
    return tag.span(text, class_=f"badge {mood}".strip())


def moment(at_s: float | None) -> Node:
    """Show a Unix time, in UTC."""
    if not at_s:
        return "–"
    when = moment_of(at_s)
    return tag.time(when.strftime("%Y-%m-%d %H:%M:%S"), datetime=when.isoformat())


def link(url: str) -> Node:
    """Show a crawled address; only http(s) becomes a link, and it tells nobody where from."""
    if url.startswith(("http://", "https://")):
        return tag.a(url, href=url, rel="noreferrer noopener", class_="url")
    return tag.span(url, class_="url")


def labelled(label: str, name: str, example: str = "", *, required: bool = False) -> Markup:
    """Make a field of a form, below its name; the example is shown while it is empty."""
    return tag.label(label, tag.input(name=name, placeholder=example or None, required=required))


def search_form(name: str, label: str, value: str, button: str = "Search") -> Markup:
    """Make a form with one field that asks for a page anew."""
    field = tag.input(type="search", name=name, id=name, value=value, autocomplete="off")
    return tag.form(
        tag.span(tag.label(label, for_=name), field, class_="field wide"),
        tag.button(button, class_="main"),
        method="get",
        role="search",
    )


def address(*parts: str, **query: str) -> str:
    """Make a path of our own; whatever the parts hold stays in its place.

    >>> address("domains", "a/b?c"), address("dead", reason="5xx & more")
    ('/domains/a%2Fb%3Fc', '/dead?reason=5xx+%26+more')
    """
    path = "/" + "/".join(map(piece, parts))
    asked = urlencode(query, errors="replace")
    return f"{path}?{asked}" if asked else path


def fragments(parts: dict[str, Markup]) -> list[Markup]:
    """Wrap parts that an event stream may replace."""
    return [tag.section(html, id=f"live-{name}") for name, html in parts.items()]
