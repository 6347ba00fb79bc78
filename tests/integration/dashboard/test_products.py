"""The list of products goes on from a place, is filtered by the database, and leaves as a file."""

import asyncio
import csv
import hashlib
import io
import re
from html import unescape
from urllib.parse import urljoin

import psycopg2
import pytest
from psycopg2.extensions import TRANSACTION_STATUS_IDLE
from yarl import URL

from crawler.dashboard.product_pictures import PictureStore
from crawler.reads import database as stored_database
from crawler.reads.database import Database
from crawler.reads.products import ORDERS, ProductFilter, search_products
from crawler.reads.records import attempts_by_provider
from scrapy_seine.errors import StoreUnreachable
from tests.helpers import execute, wait_until_async
from tests.integration.dashboard.conftest import page, serving, store_product

PRODUCTS = 130


@pytest.fixture
def shelf(database):
    """Products of two sites, many of one price, one without a price."""
    execute(
        database,
        f"""
        INSERT INTO products (site_id, external_id, url, name, brand, price, currency,
            availability, sku, item, content_hash, first_seen, scraped_at, updated_at)
        SELECT 'shop-' || n % 2, 'AB-' || n, 'https://shop.example/' || n, 'Lamp model ' || n,
            'Örtel', CASE WHEN n > 1 THEN n % 3 + 0.99 END, 'EUR',
            CASE WHEN n % 5 = 0 THEN 'OutOfStock' ELSE 'InStock' END, 'sku' || n,
            jsonb_build_object('name', 'Lamp', 'price', '1.99'), '', now(), now(),
            now() - n % 4 * interval '1 hour'
        FROM generate_series(1, {PRODUCTS}) n
        """,
    )
    execute(database, "INSERT INTO sites (site_id) VALUES ('shop-0'), ('shop-1')")
    return database


@pytest.mark.parametrize("order", ORDERS)
async def test_the_pages_of_a_list_hold_each_product_once(shelf, order):
    database = Database(shelf)
    seen, after, values = [], "", []
    while True:
        found = await search_products(database, ProductFilter(order=order), limit=50, after=after)
        seen += [(row["site_id"], row["external_id"]) for row in found.rows]
        values += [row[ORDERS[order].column] for row in found.rows]
        after = found.after
        if not after:
            break
    await database.aclose()

    priced = order in {"cheapest", "dearest"}
    assert len(seen) == len(set(seen)) == PRODUCTS - priced
    assert values == sorted(values, reverse=ORDERS[order].newest_first)


async def test_products_of_a_demo_are_not_counted_among_the_users(client, shelf):
    """A demo stores in tables of the same names, in a schema of its own."""
    execute(shelf, "CREATE SCHEMA seine_demo; CREATE TABLE seine_demo.products (n int)")
    execute(shelf, "INSERT INTO seine_demo.products SELECT generate_series(1, 5000)")
    execute(shelf, "ANALYZE products; ANALYZE seine_demo.products")
    assert f"About {PRODUCTS} in all" in await page(client, "/products")


async def test_a_search_finds_beginnings_of_words_and_whole_numbers(client, shelf):
    assert "Lamp model 77<" in await page(client, "/products?q=model+77")
    assert "Lamp model 77<" in await page(client, "/products?q=ab-77")
    assert "Lamp model 77<" in await page(client, "/products?q=lamp+örtel+ab+77")
    assert "Lamp model 77<" in await page(client, "/products?q=https://shop.example/77")
    for nothing in (
        "odel",
        "mod+77",
        "%25",
        "'):*|",
        "model+77+88",
        "%00",
        "https://shop.example/nope",
    ):
        assert "No product matches" in await page(client, f"/products?q={nothing}"), nothing


async def test_each_filter_asks_for_what_it_says(client, shelf):
    text = await page(client, "/products?site=shop-1&stock=OutOfStock&order=cheapest")
    ids = [int(n) for n in re.findall(r">AB-(\d+)<", text)]

    assert sorted(ids) == [n for n in range(1, PRODUCTS + 1) if n % 2 and not n % 5]
    assert "Next page" not in text
    following = re.search(r'href="(/products\?[^"]*after=[^"]+)"', await page(client, "/products"))
    assert "First page" in await page(client, following[1].replace("&amp;", "&"))
    assert "Lamp" in await page(client, "/products?after=junk")


async def test_a_price_that_fell_is_found_by_its_latest_change(client, database):
    for price in (20, 15):
        store_product(database, "A lamp", price=price)
    execute(
        database,
        "INSERT INTO product_versions (site_id, external_id, field, old, new, changed_at)"
        " VALUES ('shop', 'p1', 'price', '\"10\"', '\"20\"', now() - interval '1 day')",
    )
    store_product(database, "A chair", id_="p2")

    fell = await page(client, "/products?move=fell")

    assert "A lamp" in fell
    assert "-25.0 %" in fell
    assert "A chair" not in fell
    assert "No price of such a product" in await page(client, "/products?move=rose")
    assert "No price of such a product" in await page(client, "/products?move=fell&site=other")


async def test_a_search_follows_a_product_that_got_another_name(client, database):
    store_product(database, "A lamp")
    execute(database, "UPDATE products SET name = 'Ein Tisch (Eiche)'")

    assert "Ein Tisch" in await page(client, "/products?q=eiche")
    assert "No product matches" in await page(client, "/products?q=lamp")


@pytest.mark.parametrize("value", ["null", '"abc"', '""', '"NaN"', "{}", '"1e9999999"', '"-"'])
async def test_a_price_that_is_no_number_is_stored_and_moved_nowhere(client, database, value):
    store_product(database, "A lamp")
    for old, new in ((value, '"2"'), ('"2"', value), (value, value)):
        execute(
            database,
            "INSERT INTO product_versions (site_id, external_id, field, old, new, changed_at)"
            f" VALUES ('shop', 'p1', 'price', '{old}', '{new}', now())",
        )

    for move in ("fell", "rose"):
        assert "No price of such a product" in await page(client, f"/products?move={move}")


@pytest.mark.parametrize("site", ["much", "little", "nothing", ""])
async def test_the_moves_of_a_site_are_read_without_those_of_others(database, site):
    execute(database, "INSERT INTO sites (site_id) VALUES ('much'), ('little')")
    for name, products in (("little", 40), ("much", 4000)):
        execute(
            database,
            f"""
            INSERT INTO products (site_id, external_id, url, name, price, currency, item,
                content_hash, first_seen, scraped_at, updated_at)
            SELECT '{name}', 'P' || n, 'https://shop.example/' || n, 'Lamp', 9, 'EUR', '{{}}', '',
                now(), now(), now() FROM generate_series(1, {products}) n;
            INSERT INTO product_versions (site_id, external_id, field, old, new, changed_at)
            SELECT '{name}', 'P' || n, 'price', '"10"', '"9"', now() - n * interval '1 second'
            FROM generate_series(1, {products}) n
            """,
        )
    execute(database, "ANALYZE products; ANALYZE product_versions")
    plans = []

    class Explained(Database):
        async def rows(self, sql, params=None):
            plan = await super().rows(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
            plans.append(plan[0]["QUERY PLAN"][0]["Plan"])
            return await super().rows(sql, params)

    asked = Explained(database)
    found = await search_products(asked, ProductFilter(site=site, move="fell"), limit=20)
    await asked.aclose()

    assert [row["external_id"] for row in found.rows[:2]] == (
        [] if site == "nothing" else ["P1", "P2"] if site else ["P1", "P1"]
    )
    assert _rows_read(plans[0]) <= 100


def _rows_read(plan):
    """How many rows the scans of a plan gave, and how many they dropped."""
    rows = 0
    if "Relation Name" in plan:
        rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    return rows * plan["Actual Loops"] + sum(map(_rows_read, plan.get("Plans", ())))


async def test_a_question_is_one_transaction_that_writes_nothing_and_ends(database, monkeypatch):
    asked = Database(database)
    assert await asked.value("SELECT current_setting('statement_timeout')") == "3s"
    assert await asked.value("SELECT 1 + %(n)s", {"n": 1}) == 2
    assert asked._connection.info.transaction_status == TRANSACTION_STATUS_IDLE
    with pytest.raises(StoreUnreachable, match="read-only transaction"):
        await asked.rows("DELETE FROM products RETURNING site_id")
    monkeypatch.setattr(stored_database, "_BEGIN", stored_database._BEGIN.replace("3000", "50"))
    with pytest.raises(StoreUnreachable, match="statement timeout"):
        await asked.rows("SELECT pg_sleep(60)")
    await asked.aclose()


async def test_any_of_many_sites_can_be_asked_for(client, database):
    execute(
        database, "INSERT INTO sites (site_id) SELECT 'shop-' || n FROM generate_series(1, 10000) n"
    )
    store_product(database, "A lamp of the last one", site="shop-9999")
    text = await page(client, "/products?site=shop-9999")
    assert "A lamp of the last one" in text
    assert '<input name="site" id="site" value="shop-9999" list="sites"' in text
    assert text.count("<option") < 600


@pytest.mark.parametrize(
    "id_",
    ["a/b", "?x=1#y", "%2F", "+ +", "\N{BICYCLE}\N{ZERO WIDTH JOINER}", "\u05e9\u202e(1)",
     "<script>", "\\", "'\"&", ".", "..", "~..", "~", "...", "%2e%2e", "{0}{x}"],
)  # fmt: skip
async def test_a_product_of_any_number_has_a_page(client, database, id_):
    store_product(database, "An odd lamp", id_=id_, site="שופ/..?")
    href = re.search(r'href="(/products/[^"]+)"', await page(client, "/products"))[1]
    assert urljoin("http://x/", unescape(href)) == f"http://x{unescape(href)}"  # as browsers do
    shown = await client.get(URL(unescape(href), encoded=True))
    assert (shown.status, "An odd lamp" in await shown.text()) == (200, True)


async def test_attempts_are_summed_up_to_a_limit(database):
    execute(
        database,
        "INSERT INTO attempts (at, url, domain, outcome, duration_ms) SELECT now(), 'http://a/',"
        " 'a', 'ok', 10 FROM generate_series(1, 30)",
    )
    asked = Database(database)
    bounded = await attempts_by_provider(asked, max_attempts=20)
    whole = await attempts_by_provider(asked)
    await asked.aclose()

    assert [row["attempts"] for row in bounded] == [20]
    assert [row["attempts"] for row in whole] == [30]


async def test_the_list_leaves_as_a_file(client, shelf):
    async with client.get("/products.csv?site=shop-1") as response:
        assert response.headers["Content-Disposition"] == 'attachment; filename="products.csv"'
        rows = list(csv.DictReader(io.StringIO(await response.text())))

    assert {row["external_id"] for row in rows} == {f"AB-{n}" for n in range(1, PRODUCTS + 1, 2)}
    async with client.get("/products.csv") as response:
        assert (await response.text()).count("\n") == PRODUCTS + 1


async def test_a_file_that_cannot_be_written_is_a_page_that_says_so(namespace, redis_url):
    async with serving(namespace, redis_url, "postgresql://127.0.0.1:1/nobody") as client:
        assert "does not answer" in await page(client, "/products.csv", status=503)


async def test_a_stored_picture_is_shown_and_nothing_else_of_the_folder(
    namespace, redis_url, database, tmp_path
):
    url = "https://shop.example/lamp.jpg"
    store_product(database, "A lamp")
    execute(database, f"UPDATE products SET image = '{url}'")
    name = hashlib.sha1(url.encode()).hexdigest()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / f"{name}.jpg").write_bytes(b"\xff\xd8picture")
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    async with serving(namespace, redis_url, database, images=str(tmp_path)) as client:
        assert f'src="/picture/{name}"' in await page(client, "/products")
        assert f'src="/picture/{name}?large=1"' in await page(client, "/products/shop/p1")
        async with client.get(f"/picture/{name}") as response:
            assert await response.read() == b"\xff\xd8picture"
            assert response.headers["Content-Type"] == "image/jpeg"
            assert response.headers["X-Content-Type-Options"] == "nosniff"
        for bad in ("..%2Fsecret", "%2e%2e%2fsecret", "0" * 40, "secret"):
            async with client.get(f"/picture/{bad}") as response:
                assert response.status == 404, bad


def test_a_list_shows_the_smallest_picture_and_a_product_the_whole_one(tmp_path):
    name, sizes = "0" * 40, {"full": 900, "thumbs/big": 200, "thumbs/small": 20}
    for place, size in sizes.items():
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / f"{name}.jpg").write_bytes(b"x" * size)
    (tmp_path / "thumbs" / "note.txt").write_text("no folder")
    stored = PictureStore.within(str(tmp_path))

    def shown(*, large):
        path = stored.file(name, large=large)
        return path and path.parent.relative_to(tmp_path).as_posix()

    assert (shown(large=False), shown(large=True)) == ("thumbs/small", "full")
    (tmp_path / "full" / f"{name}.jpg").unlink()
    assert shown(large=True) == "thumbs/small"
    for thumb in ("small", "big"):
        (tmp_path / "thumbs" / thumb / f"{name}.jpg").unlink()
    assert shown(large=False) is None
    assert PictureStore.within("") is None


async def test_a_held_back_value_is_named_on_its_products_page(client, database):
    store_product(database, "A lamp")
    connection = psycopg2.connect(database)
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO doubtful (site_id, external_id, field, kind, reason, url, value, kept,"
            " first_at, seen_at) VALUES ('shop', 'p1', 'price', 'jump', 'it fell by 99 percent',"
            " 'u', '\"0.10\"', '\"10\"', now(), now())"
        )
    connection.close()

    text = await page(client, "/products/shop/p1")

    assert "it fell by 99 percent" in text
    assert "10 is kept" in text


async def test_exports_that_nobody_reads_leave_the_pages_their_connections(
    client, database, monkeypatch
):
    """Each held a thread of those that read the database for all pages, for a minute at least."""
    execute(
        database,
        "INSERT INTO products (site_id, external_id, url, name, item, content_hash, first_seen,"
        " scraped_at, updated_at) SELECT 'shop', n::text, 'http://shop.example/' || n,"
        " repeat('lamp ', 200), '{}', '', now(), now(), now() FROM generate_series(1, 30000) n",
    )
    monkeypatch.setattr("crawler.dashboard.products_csv.WRITE_TIMEOUT_S", 3.0)
    request = f"GET /products.csv HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode()
    readers = []
    for _ in range(40):
        reader, writer = await asyncio.open_connection(client.host, client.port, limit=1024)
        writer.write(request)
        readers.append((reader, writer))
    heads = [await reader.readline() for reader, _ in readers]
    assert {head.split()[1] for head in heads} == {b"200", b"503"}
    async with asyncio.timeout(5):
        await page(client, "/products")

    async def is_free() -> bool:
        async with client.get("/products.csv") as response:
            return response.status == 200

    await wait_until_async(is_free, 20, "who reads nothing is cut off")
    for _, writer in readers:
        writer.close()
