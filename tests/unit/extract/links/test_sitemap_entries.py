"""Which of an entry's addresses is its page's, in whatever order a generator writes them."""

from __future__ import annotations

import pytest

from crawler.extract.links.sitemap_format import read_sitemap

PAGE = "https://a.example/p/lamp"


@pytest.mark.parametrize(
    "entry",
    [
        f"<url><image:image><image:loc>https://a.example/i.jpg</image:loc></image:image><loc>{PAGE}</loc></url>",
        '<url><xhtml:link rel="alternate" hreflang="de" href="https://a.example/de/p/lamp"/>'
        f"<loc>{PAGE}</loc></url>",
        f'<item><guid isPermaLink="false">https://a.example/?p=12</guid><link>{PAGE}</link></item>',
        '<entry><link rel="enclosure" href="https://a.example/i.jpg"/>'
        f'<link rel="alternate" href="{PAGE}"/></entry>',
        f'<entry><link rel="self" href="https://a.example/feed/1"/><link href="{PAGE}"/></entry>',
        f"<sm:url><sm:loc>{PAGE}</sm:loc></sm:url>",
        f"<url><link>{PAGE}</link></url>",
        f"<item><guid>{PAGE}</guid></item>",
        f"<item><g:link>{PAGE}</g:link><guid>https://a.example/?p=12</guid></item>",
    ],
)
def test_an_entrys_page_is_read_before_and_behind_its_pictures_and_copies(entry: str) -> None:
    sitemap = read_sitemap(f"<list>{entry}</list>".encode(), "https://a.example/sitemap.xml")
    assert [url for url, _ in sitemap.pages] == [PAGE]


def test_an_entry_of_pictures_alone_names_no_page() -> None:
    entry = "<url><image:image><image:loc>https://a.example/i.jpg</image:loc></image:image></url>"
    assert read_sitemap(f"<urlset>{entry}</urlset>".encode(), "https://a.example/").pages == []
