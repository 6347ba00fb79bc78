"""Pictures of products that Scrapy's ImagesPipeline has stored in a local folder.

The dashboard loads no file from a shop, so it shows only stored pictures. A picture's name is that
of the pipeline: the SHA-1 of its URL.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import attrs
from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.reads.database import Row
from scrapy_seine.attrs_bases import Value

_NAME = re.compile(r"[0-9a-f]{40}")


@attrs.frozen(eq=False, repr=False)
class PictureStore(Value):
    """The folders of a store, listed once for all rows of a page."""

    folder: Path
    thumbs: tuple[Path, ...]

    @classmethod
    def within(cls, store: str) -> PictureStore | None:
        """List the folders of *store*; None: no pictures are stored."""
        return cls(Path(store), tuple(Path(store).glob("thumbs/*/"))) if store else None

    def file(self, name: str, *, large: bool) -> Path | None:
        """Return the file of a picture, the smallest that is large enough."""
        full_size = self.folder / "full" / f"{name}.jpg"
        if large and full_size.is_file():
            return full_size
        thumbs = [path for thumb in self.thumbs if (path := thumb / f"{name}.jpg").is_file()]
        return min(thumbs, key=_bytes, default=full_size if full_size.is_file() else None)


def picture(pictures: PictureStore | None, row: Row, *, large: bool = False) -> Node:
    """Render a product's first picture; an empty frame if it is not stored."""
    if pictures is None:
        return None
    name, size = _picture_name(row["image"] or ""), 240 if large else 48
    if pictures.file(name, large=large) is None:
        return None if large else tag.span(class_="picture none")
    href = f"/picture/{name}" + ("?large=1" if large else "")
    return tag.img(src=href, alt="", width=size, height=size, loading="lazy", class_="picture")


def _picture_name(url: str) -> str:
    return hashlib.sha1(url.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _bytes(path: Path) -> int:
    return path.stat().st_size


async def show_picture(request: web.Request) -> web.StreamResponse:
    """Serve one stored picture."""
    name, store = request.match_info["name"], context_of(request).config.images
    path = None
    if _NAME.fullmatch(name) and (pictures := PictureStore.within(store)) is not None:
        path = pictures.file(name, large="large" in request.query)
    if path is None:
        raise web.HTTPNotFound(text="There is no such picture.\n")
    headers = {"Cache-Control": "private, max-age=86400", "Content-Type": "image/jpeg"}
    return web.FileResponse(path, headers=headers)
