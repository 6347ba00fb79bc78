"""A sitemap in another encoding than UTF-8 lists the same pages."""

from __future__ import annotations

import pytest

from crawler.extract.links.sitemap_format import read_sitemap
from tests.measuring import within_cpu

URL = "http://a.example/sitemap.xml"
XML = "<?xml version='1.0' encoding='{}'?><urlset><url><loc>http://a.example/\xe4</loc></url></urlset>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_a_sitemap_is_read_in_the_encoding_that_it_declares(encoding: str) -> None:
    """In UTF-16 it had no page, in the other ones addresses with a replacement character."""
    sitemap = read_sitemap(XML.format(encoding).encode(encoding), URL)
    assert sitemap.pages == [("http://a.example/\xe4", "")]


def test_a_text_sitemap_of_a_windows_shell_is_read() -> None:
    text = "http://a.example/1\r\nhttp://a.example/2\r\n"
    assert [url for url, _ in read_sitemap(text.encode("utf-16"), URL).pages] == text.split()


def test_a_declared_encoding_does_not_spoil_valid_utf_8() -> None:
    body = XML.format("iso-8859-1").encode()
    assert read_sitemap(body, URL).pages == [("http://a.example/\xe4", "")]


@pytest.mark.parametrize("encoding", ["idna", "zlib_codec", "punycode", "unicode_escape"])
def test_bytes_of_no_encoding_are_not_guessed(encoding: str) -> None:
    with within_cpu(0.5):
        read_sitemap(XML.format(encoding).encode() + b"\xff" * 20_000_000, URL)
