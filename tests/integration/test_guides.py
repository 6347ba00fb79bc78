"""The guides' own code and commands are run as they stand."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs

import psycopg2
import pytest

from tests.helpers import run_scrapy, serving

ROOT = Path(__file__).parents[2]


def blocks(page: str, kind: str) -> list[str]:
    """The code blocks of a page."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


class Members(BaseHTTPRequestHandler):
    """A site whose prices are for members."""

    def do_GET(self) -> None:
        known = "session=good" in self.headers.get("Cookie", "")
        form = (
            "<form method=post><input name=user><input name=password><input name=t value=7></form>"
        )
        inside = "<li><b>Lamp</b><i>9.90</i></li><li><b>Chair</b><i>49</i></li>"
        self._answer(inside if self.path == "/members" and known else form)

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        right = sent == {"user": ["me"], "password": ["secret"], "t": ["7"]}
        self._answer("welcome" if right else "wrong", cookie="session=good" if right else "")

    def _answer(self, text: str, cookie: str = "") -> None:
        body = f"<html><body>{text}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def test_the_login_of_the_guide_logs_in(redis_url: str, namespace: str, tmp_path: Path) -> None:
    (spider,) = (text for text in blocks("login.md", "python") if "class MembersSpider" in text)
    (tmp_path / "members.py").write_text(spider, "utf-8")
    environment = {"SHOP_USER": "me", "SHOP_PASSWORD": "secret"}
    with serving(Members) as site:
        run_scrapy(
            *("runspider", "members.py", "-a", f"site={site}", "-o", "members.csv"),
            *("-s", 'ADDONS={"scrapy_seine.Addon": 500}', "-s", f"SEINE_CRAWL={namespace}"),
            *("-s", f"REDIS_URL={redis_url}"),
            folder=tmp_path,
            environment=environment,
        )

    rows = list(csv.DictReader(io.StringIO((tmp_path / "members.csv").read_text("utf-8"))))
    assert rows == [{"name": "Lamp", "price": "9.90"}, {"name": "Chair", "price": "49"}]


class Shop(BaseHTTPRequestHandler):
    """A shop of one product with one picture."""

    picture = b""

    def do_GET(self) -> None:
        page = (
            "<h1>A lamp</h1><script type=application/ld+json>"
            '{"@type": "Product", "name": "A lamp", "sku": "L1", "image": "/lamp.jpg",'
            ' "offers": {"price": "9.90", "priceCurrency": "EUR"}}</script>'
        )
        found = {"/p/lamp": (page.encode(), "text/html"), "/lamp.jpg": (self.picture, "image/jpeg")}
        body, kind = found.get(self.path, (b"", "text/plain"))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def test_the_settings_of_the_guide_store_a_products_pictures(
    redis_url: str, database: str, namespace: str, tmp_path: Path
) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    drawn = io.BytesIO()
    image.new("RGB", (300, 200), "red").save(drawn, "JPEG")
    (module,) = blocks("images.md", "python")
    (tmp_path / "pictures_settings.py").write_text(module.replace("laptop", "test"), "utf-8")
    environment = {
        "REDIS_URL": redis_url,
        "DATABASE_URL": database,
        "SCRAPY_SETTINGS_MODULE": "pictures_settings",
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
    }
    with serving(type("Drawn", (Shop,), {"picture": drawn.getvalue()})) as site:
        said = run_scrapy(
            *("crawl", "catalog", "-a", f"url={site}/p/lamp", "-s", f"SEINE_CRAWL={namespace}"),
            *("-s", f"IMAGES_STORE={tmp_path / 'pictures'}"),
            folder=ROOT,
            environment=environment,
        )

        name = hashlib.sha1(f"{site}/lamp.jpg".encode()).hexdigest()

    assert "ERROR" not in said
    for place in ("full", "thumbs/small"):
        assert (tmp_path / "pictures" / place / f"{name}.jpg").exists()
    connection = psycopg2.connect(database)
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT name, image, item ? 'stored_images' FROM products")
        assert cursor.fetchall() == [("A lamp", f"{site}/lamp.jpg", False)]
    connection.close()
