"""The frame of every page, and the components of pages."""

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
from scrapy_seine.lenient_parsing import moment_of

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
#: The message after each action (crawler.dashboard.actions).
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
    """Render a page; *live* is the name of the event stream that updates it."""
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
    current_path = own_path(request)
    links = [
        tag.li(
            tag.a(name, href=path, aria_current="page" if _is_current(current_path, path) else None)
        )
        for path, name in NAVIGATION
    ]
    logout_form: Node = None
    if request[WHO] not in {"", "local"}:
        logout_form = tag.form(
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
        logout_form,
    )


def _crawls(request: web.Request) -> Markup:
    """Show the crawl's name with links to the same page of the other crawls."""
    crawl = context_of(request).config.crawl
    other_names = [name for name in request.app[CRAWLS].names if name != crawl]
    if not other_names or not request[WHO]:
        return tag.span(crawl)
    path, query = own_path(request), request.query_string
    links = [
        tag.li(tag.a(name, href=same_page(name, path, query), aria_current=current))
        for name, current in ((crawl, "true"), *((name, None) for name in other_names))
    ]
    summary = tag.summary(crawl, aria_label=f"Crawl {crawl}: choose another")
    return tag.details(summary, tag.ul(links), class_="crawls")


def _is_current(path: str, link: str) -> bool:
    return path == link or (link != "/" and path.startswith(f"{link}/"))


def _flash(request: web.Request) -> Node:
    text = DONE.get(request.query.get("done", ""))
    if text is None:
        return None
    n = request.query.get("n", "0")
    return tag.p(text.format(n=n if n.isdecimal() else "0"), class_="flash", role="status")


def refusal(reason: object) -> Markup:
    """Render the reason of a refusal."""
    return tag.p(str(reason), class_="flash bad", role="alert")


def hidden_token(request: web.Request) -> Markup:
    """Return the hidden input with the form token, which each form needs."""
    return tag.input(type="hidden", name="form_token", value=request[FORM_TOKEN])


def action_form(
    request: web.Request, verb: str, label: str, /, *fields: Node, **hidden: Any
) -> Markup:
    """Render a form with one button, which leads to the action's question."""
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
    """Render a table; the first *words* columns are text, the others numbers.

    *empty* is shown if there is no row; it should have the command that makes one. On a phone each
    row becomes a block, in which each cell has its column's name.
    """

    def kind(index: int) -> str | None:
        return None if index < words else "number"

    head = tag.tr([tag.th(name, scope="col", class_=kind(i)) for i, name in enumerate(columns)])
    table_rows = [
        tag.tr(
            [
                tag.td(cell, class_=kind(i), data_label=columns[i] if i else None)
                for i, cell in enumerate(row)
            ]
        )
        for row in rows
    ]
    if not table_rows:
        table_rows = [tag.tr(tag.td(empty, colspan=len(columns), class_="empty"))]
    html_table = tag.table(
        tag.caption(caption), tag.thead(head), tag.tbody(table_rows), class_=class_ or None
    )
    return tag.div(html_table, class_="scroll", role="region", aria_label=caption, tabindex="0")


def tiles(values: Iterable[tuple[str, str]], *, words: bool = False) -> Markup:
    """Render a few large numbers; *words* are smaller."""
    items = [tag.div(tag.dt(name), tag.dd(value)) for name, value in values]
    return tag.dl(items, class_="tiles words" if words else "tiles")


def badge(text: str, mood: str = "") -> Markup:
    """Render a state as a coloured word."""
    return tag.span(text, class_=f"badge {mood}".strip())


def moment(at_s: float | None) -> Node:
    """Render a Unix time in UTC."""
    if not at_s:
        return "–"
    time = moment_of(at_s)
    return tag.time(time.strftime("%Y-%m-%d %H:%M:%S"), datetime=time.isoformat())


def link(url: str) -> Node:
    """Render a crawled URL; only http(s) becomes a link, and it sends no referrer."""
    if url.startswith(("http://", "https://")):
        return tag.a(url, href=url, rel="noreferrer noopener", class_="url")
    return tag.span(url, class_="url")


def labelled(label: str, name: str, example: str = "", *, required: bool = False) -> Markup:
    """Render a labelled field of a form; the example is its placeholder."""
    return tag.label(label, tag.input(name=name, placeholder=example or None, required=required))


def ticked(label: str, name: str) -> Markup:
    """Render a labelled tick box of a form, whose value is `yes`."""
    return tag.label(label, tag.input(type="checkbox", name=name, value="yes"))


def search_form(name: str, label: str, value: str, button: str = "Search") -> Markup:
    """Render a search form with one field."""
    field = tag.input(type="search", name=name, id=name, value=value, autocomplete="off")
    return tag.form(
        tag.span(tag.label(label, for_=name), field, class_="field wide"),
        tag.button(button, class_="main"),
        method="get",
        role="search",
    )


def address(*parts: str, **query: str) -> str:
    """Build a path of the dashboard from quoted parts and a query.

    >>> address("domains", "a/b?c"), address("dead", reason="5xx & more"), address(range="7d")
    ('/domains/a%2Fb%3Fc', '/dead?reason=5xx+%26+more', '/?range=7d')
    """
    path = "/" + "/".join(map(piece, parts))
    query_string = urlencode(query, errors="replace")
    return f"{path}?{query_string}" if query_string else path


def fragments(parts: dict[str, Markup]) -> list[Markup]:
    """Wrap parts of a page that an event stream updates."""
    return [tag.section(html, id=f"live-{name}") for name, html in parts.items()]
