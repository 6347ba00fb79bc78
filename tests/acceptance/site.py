"""A few pages of a test's own, served from a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tests.helpers import Answering, serving


@contextmanager
def serve_pages(pages: Mapping[str, str] | Callable[[str], str]) -> Iterator[str]:
    """Serve *pages* by path, or what a function makes of a path; gives the base URL.

    Where that is empty the answer is a 404.
    """
    page_of = pages if callable(pages) else lambda path: pages.get(path, "")

    class Handler(Answering):
        def do_GET(self) -> None:
            body = page_of(self.path).encode()
            self.answer(200 if body else 404, body, charset="utf-8")

    with serving(Handler) as base:
        yield base
