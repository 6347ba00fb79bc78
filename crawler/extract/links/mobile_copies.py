"""Leave out a shop's pages for phones: `/m/lamps` whose canonical address is `/lamps`.

The copy shows the same products, which would be stored under addresses of the copy.
"""

from __future__ import annotations

from crawler.extract.links.choice import Link


def without_copy(links: list[Link], url: str, canonical: str | None) -> list[Link]:
    """Return the links of a page that is a copy below a folder, without that folder.

    A page that names the front page as its own address may be any page of the shop.

    >>> lamp = Link("https://a.example/m/lamp-12", "product", "")
    >>> without_copy([lamp], "https://a.example/m/lamps", "https://a.example/lamps")[0].url
    'https://a.example/lamp-12'
    """
    origin, path = _split(url)
    own_origin, own_path = _split(canonical or "")
    folder = path.removesuffix(own_path) if own_path != "/" and own_origin == origin else path
    if folder in {"", path} or folder.count("/") != 1:
        return links
    start = f"{origin}{folder}/"
    return [
        Link(f"{origin}/{link.url.removeprefix(start)}", link.kind, link.reason)
        if link.url.startswith(start)
        else link
        for link in links
    ]


def _split(url: str) -> tuple[str, str]:
    """Return the origin and the path of a URL."""
    place = url.partition("?")[0]
    end = place.find("/", 8)
    return (place, "/") if end < 0 else (place[:end], place[end:])
