"""Which of an entry's addresses is its page's, in whatever order a generator writes them."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from crawler.extract.links.sitemap_format import named_in_robots, read_sitemap

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
        f"<url><sm:loc>{PAGE}</sm:loc></url>",
        f"<url><i:image><i:loc>https://a.example/i.jpg</i:loc></i:image><loc>{PAGE}</loc></url>",
        f"<!-- <url><loc>https://a.example/old</loc></url> --><url><loc>{PAGE}</loc></url>",
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


def test_a_comment_within_an_entrys_text_hides_no_entry() -> None:
    text = "<item><title><![CDATA[<!-- more]]></title></item>"
    body = f"<rss>{text}<item><link>{PAGE}</link></item><!-- x --></rss>".encode()
    assert [url for url, _ in read_sitemap(body, "https://a.example/feed").pages] == [PAGE]


def test_a_file_of_comments_takes_little_more_memory_than_it_has() -> None:
    """A file of 16 MB took 320 MB more, because each piece between two comments was kept."""
    body = b"<urlset>" + b"<!--]]>" * 600_000 + b"-->"
    tracemalloc.start()
    read_sitemap(body, "https://a.example/s.xml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * len(body)


def test_a_gzipped_sitemap_with_a_wrong_checksum_is_read() -> None:
    body = gzip.compress(f"<urlset><url><loc>{PAGE}</loc></url></urlset>".encode())[:-8] + bytes(8)
    assert [url for url, _ in read_sitemap(body, "https://a.example/s.gz").pages] == [PAGE]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(encoding: str) -> None:
    body = f"<?xml version='1.0'?><urlset><url><loc>{PAGE}</loc></url></urlset>".encode(encoding)
    assert [url for url, _ in read_sitemap(body, "https://a.example/s.xml").pages] == [PAGE]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Sitemap https://a.example/1.xml", ["https://a.example/1.xml"]),
        ("Site-map: https://a.example/1.xml", ["https://a.example/1.xml"]),
        ("sitemaps : 1.xml", ["https://a.example/1.xml"]),
        ("Sitemap: https://a.example/1.xml#main", ["https://a.example/1.xml"]),
        ('Sitemap: "https://a.example/1.xml"', ["https://a.example/1.xml"]),
        (
            "Sitemap: https://a.example/1.xml, https://a.example/2.xml",
            ["https://a.example/1.xml", "https://a.example/2.xml"],
        ),
        ("Sitemap: /1.xml (all pages)", ["https://a.example/1.xml"]),
        ("Disallow: /sitemap", []),
        ("Sitemapping: /x", []),
        ("Sitemaps are below", []),
    ],
)
def test_sitemaps_are_named_in_the_usual_spellings(line: str, named: list[str]) -> None:
    assert named_in_robots(line, "https://a.example/robots.txt") == named
