"""Which values of a page stay out of the products' table, beside what is stored: pure rules."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import attrs
import orjson
import pytest

from crawler.items import Product
from crawler.stores.content_hash import digest, digest_of
from crawler.stores.doubtful import _with_good_values
from crawler.stores.doubts_by_history import EarlierDoubt, Stored, doubts_of, is_seen_again
from crawler.stores.rows import product_row

AT = datetime(2026, 1, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)


def row(**fields):
    made = {"url": "https://s.example/p/1", "name": "Red Lamp", "external_id": "1", "site_id": "s",
            "price": Decimal("10.00"), "currency": "EUR", "scraped_at": AT,
            "confidence": {"price": 0.8}} | fields  # fmt: skip
    product = Product(**made)
    return product_row(product, digest(product))


def stored(url="https://s.example/p/1", age=HOUR, **fields):
    item = {"name": "Red Lamp", "price": "10.00", "currency": "EUR", **fields}
    return Stored(item, url, AT - age)


def test_a_stored_item_has_the_digest_of_its_product():
    """A row whose doubtful value was replaced by the stored one has to count as unchanged."""
    product = Product(url="u", name="n", price=Decimal("1.50"), rating=4.0, review_count=0,
                      images=["a"], attributes={"b": "1", "a": "2"}, availability=None)  # fmt: skip
    made = product_row(
        Product(**{f: getattr(product, f) for f in ("url", "name", "price", "rating",
                "review_count", "images", "attributes")}, site_id="s", external_id="e"), b""
    )  # fmt: skip
    assert digest_of(orjson.loads(made.body)) == digest(product)


@pytest.mark.parametrize(
    ("name", "doubtful"),
    [("Red La…", True), ("RED ...", True), ("Red Lamp…", False), ("Blue La…", False), ("…", False),
     ("Red", False)],
)  # fmt: skip
def test_a_name_that_is_the_beginning_of_the_stored_one_and_dots_is_never_accepted(name, doubtful):
    """A template that cuts names has the same ones in each crawl, also where all have changed."""
    for doubts in ({}, {"name": ["changed", "no known product has its name"]}):
        made = doubts_of(row(name=name, doubts=doubts), stored())
        earlier = EarlierDoubt(name, AT - 2 * HOUR, 0)
        kept = [doubt.kind for doubt in made if not is_seen_again(doubt, earlier)]
        assert kept == (["cut"] if doubtful else [])


@pytest.mark.parametrize(
    ("price", "sure", "doubtful"),
    [
        ("10.00", 0.5, False),
        ("40.00", 0.5, False),
        ("60.00", 0.5, True),
        ("60.00", 0.99, False),
        ("1.50", 0.5, True),
        ("1000.00", 0.99, True),
        ("0.40", 0.99, True),
    ],
)
def test_a_jump_of_the_price(price, sure, doubtful):
    made = doubts_of(row(price=Decimal(price), confidence={"price": sure}), stored())
    assert [one.kind for one in made] == (["jump"] if doubtful else [])


@pytest.mark.parametrize(
    ("gtin", "doubtful"),
    [("400638133393", True), ("4006381333931", False), ("04006381333931", False), (None, False),
     ("96385074", False)],
)  # fmt: skip
def test_a_barcode_that_is_a_part_of_the_stored_one_lost_digits(gtin, doubtful):
    made = doubts_of(row(gtin=gtin), stored(gtin="4006381333931"))
    assert [(one.field, one.kind, one.good_value) for one in made] == (
        [("gtin", "cut", "4006381333931")] if doubtful else []
    )


@pytest.mark.parametrize(("field", "doubtful"), [("price", True), ("availability", False)])
def test_new_products_at_the_end_of_a_listing_may_all_be_sold_out(field, doubtful):
    made = row(availability="OutOfStock", doubts={field: ["repeated", "12 of the newest have it"]})
    assert [one.field for one in doubts_of(made, None)] == [field] * doubtful
    known = doubts_of(made, stored(availability="InStock", price="12.00"))
    assert [(one.field, one.kind) for one in known] == [(field, "repeated")]


def test_a_new_product_with_a_button_and_no_word_for_its_stock_is_believed():
    made = row(availability="InStock", doubts={"availability": ["place", "it stands in a button"]})
    assert doubts_of(made, None) == []
    assert doubts_of(made, stored(availability="InStock")) == []
    assert [one.kind for one in doubts_of(made, stored(availability="OutOfStock"))] == ["place"]


@pytest.mark.parametrize(
    ("kind", "regular", "doubtful"),
    [
        ("repeated", "10.00", False),
        ("repeated", "12.00", True),
        ("order", "10.00", True),
        ("make", "10.00", False),
        ("make", "12.00", True),
    ],
)
def test_goods_that_are_reduced_to_one_price_are_a_sale(kind, regular, doubtful):
    made = row(
        price=Decimal("4.50"), regular_price=Decimal(regular), doubts={"price": [kind, "one price"]}
    )
    assert [one.field for one in doubts_of(made, stored())] == ["price"] * doubtful
    restored = attrs.evolve(stored(price="4.50"), earlier_values={"price": "10.00"})
    assert bool(doubts_of(made, restored)) == (doubtful and kind == "repeated")


def test_a_new_product_has_no_jump():
    assert doubts_of(row(price=Decimal("99999")), None) == []


def test_a_value_that_is_stored_already_is_not_doubtful():
    doubts = {"price": ["place", "it stands elsewhere"]}
    assert doubts_of(row(doubts=doubts), stored()) == []
    assert len(doubts_of(row(doubts=doubts, price=Decimal("11")), stored())) == 1


class TestKeys:
    OTHER = {"url": "https://s.example/c/lamps", "name": "All things"}

    def test_another_page_with_another_name_does_not_take_a_products_key(self):
        (made,) = doubts_of(row(**self.OTHER), stored())
        assert (made.field, made.kind, made.good_value) == ("external_id", "conflict", None)
        assert "Red Lamp" in made.reason

    @pytest.mark.parametrize(
        "fields",
        [
            {"url": "https://s.example/p/1"},
            {"name": "Red Lamp, large"},
            {"canonical_url": "https://s.example/p/1"},
        ],
    )
    def test_one_product_may_have_many_addresses_and_a_new_name(self, fields):
        assert doubts_of(row(**(self.OTHER | fields)), stored()) == []

    @pytest.mark.parametrize(
        ("own", "other", "is_taken"),
        [
            ({}, {"price": None}, True),
            ({"url": "https://s.example/lamp/1"}, {}, True),
            ({"url": "https://s.example/lamp/11"}, {}, False),
            ({"price": None}, {}, False),
            ({}, {}, False),
            ({"url": "https://s.example/lamp/1", "price": None}, {}, False),
        ],
    )
    def test_the_page_with_a_price_or_the_key_in_its_url_takes_its_key_from_another(
        self, own, other, is_taken
    ):
        new = row(**{"url": "https://s.example/lamp"} | own)
        listing = stored("https://s.example/lists/", **({"name": "All things"} | other))
        (made,) = doubts_of(new, listing)
        assert (made.kind, made.is_essential) == ("conflict", not is_taken)
        assert made.row.url == (listing.url if is_taken else new.url)

    @pytest.mark.parametrize(
        ("url", "number", "doubtful"),
        [
            ("https://s.example/p/1", "B-2", True),
            ("https://s.example/p/1", "A-1", False),
            ("https://s.example/p/1", None, False),
            ("https://s.example/p/red-lamp-1", None, True),
            ("https://s.example/p/red_lamp_1", "A-1", False),
        ],
    )
    def test_a_sold_out_products_page_that_shows_another_one_does_not_change_it(
        self, url, number, doubtful
    ):
        page = row(url=url, name="Copper Kettle", sku=number)
        made = doubts_of(page, stored(url, sku="A-1" if number else None))
        assert [one.kind for one in made] == ["conflict"] * doubtful
        assert not doubts_of(page, stored(url, timedelta(days=8), sku="A-1"))
        assert not doubts_of(row(url=url, name="Red Lamp, new", sku=number), stored(url, sku="A-1"))

    def test_one_barcode_is_one_product(self):
        code = "4006381333931"
        assert doubts_of(row(**self.OTHER, gtin=code), stored(gtin=code)) == []

    def test_a_page_that_was_not_seen_for_long_gives_its_key_away(self):
        assert doubts_of(row(**self.OTHER), stored(age=timedelta(days=8))) == []


class TestSecondLook:
    def doubt(self, kind="place", price="60.00"):
        (made,) = doubts_of(row(price=Decimal(price), doubts={"price": [kind, "r"]}), stored())
        return made

    def test_a_value_that_is_told_again_is_believed(self):
        assert is_seen_again(self.doubt(), EarlierDoubt("60.00", AT - HOUR, 0))

    @pytest.mark.parametrize(
        "before",
        [None, EarlierDoubt("60.00", AT, 0), EarlierDoubt("59.00", AT - HOUR, 0)],
        ids=["first", "soon", "other"],
    )
    def test_otherwise_it_is_not(self, before):
        assert not is_seen_again(self.doubt(), before)

    @pytest.mark.parametrize("kind", ["missing", "repeated", "order"])
    def test_what_a_template_lacks_it_lacks_each_time(self, kind):
        assert not is_seen_again(self.doubt(kind), EarlierDoubt("60.00", AT - HOUR, 0))

    def test_many_jumps_of_a_site_are_a_templates(self):
        (made,) = doubts_of(row(price=Decimal("60.00")), stored())
        assert is_seen_again(made, EarlierDoubt("60.00", AT - HOUR, 1))
        assert not is_seen_again(made, EarlierDoubt("60.00", AT - HOUR, 11))


def test_a_sale_that_shows_the_stored_price_as_the_one_before_is_no_jump():
    told = {"price": Decimal("1.00"), "regular_price": Decimal("10.00")}
    assert doubts_of(row(**told), stored()) == []
    (made,) = doubts_of(row(**(told | {"regular_price": Decimal("11.00")})), stored())
    assert made.kind == "jump"


def test_a_price_in_a_new_place_that_is_the_one_before_a_reduction_stays_doubtful():
    doubts = {"price": ["place", "it stands elsewhere"]}
    (made,) = doubts_of(row(price=Decimal("12"), doubts=doubts), stored(regular_price="12.00"))
    assert made.kind == "order"
    assert not is_seen_again(made, EarlierDoubt(made.value, AT - HOUR, 0))


class TestCurrencies:
    """Shops take it by the country that asks; a worker's exit is no change of the shop."""

    def turned(self):
        (made,) = doubts_of(row(price=Decimal("11.00"), currency="USD"), stored())
        return made

    def test_another_currency_is_not_believed_at_once_and_its_price_is_not_either(self):
        made = self.turned()
        assert (made.field, made.kind, made.value, made.good_value) == (
            "currency",
            "turned",
            "USD",
            "EUR",
        )
        item = orjson.loads(_with_good_values(made.row, [made], stored()).body)
        assert (item["price"], item["currency"]) == ("10.00", "EUR")

    def test_a_new_price_whose_currency_is_in_dispute_is_not_believed(self):
        doubts = {"currency": ["dispute", "text says 'USD'"]}
        (made,) = doubts_of(row(price=Decimal("11"), doubts=doubts), stored())
        assert (made.field, made.kind, made.good_value) == ("price", "dispute", "10.00")
        assert doubts_of(row(doubts=doubts), stored()) == []

    def test_a_first_currency_and_one_that_is_gone_are_no_turn(self):
        assert doubts_of(row(currency=None), stored()) == []
        assert doubts_of(row(currency="USD"), stored(currency=None)) == []

    def test_it_is_believed_when_all_of_the_site_tells_it_again(self):
        assert is_seen_again(self.turned(), EarlierDoubt("USD", AT - HOUR, 0))
        assert not is_seen_again(self.turned(), EarlierDoubt("USD", AT - HOUR, 0, mixed=True))


class TestRepeated:
    """Some products are stored with what repeats, before it has been told often enough."""

    DOUBT = {"name": ["repeated", "six products have it"]}

    def made(self, lately, name="Red Lamp"):
        before = attrs.evolve(stored(), earlier_values=lately)
        return doubts_of(row(name=name, doubts=self.DOUBT), before)

    def test_the_value_before_it_returns(self):
        (made,) = self.made({"name": "Blue Vase"})
        assert (made.value, made.good_value) == ("Red Lamp", "Blue Vase")

    def test_one_that_did_not_change_of_late_stays(self):
        assert self.made({}) == []

    def test_another_value_does_not_bring_back_one_older_than_the_stored(self):
        (made,) = self.made({"name": "Blue Vase"}, name="Best offers")
        assert made.good_value == "Red Lamp"


def test_the_money_that_belongs_to_a_kept_price_is_kept_with_it():
    before = stored(regular_price="12.00")
    made = row(price=Decimal("60"), currency="USD", regular_price=Decimal("80"),
               doubts={"price": ["place", "r"]})  # fmt: skip
    item = orjson.loads(_with_good_values(made, doubts_of(made, before), before).body)
    assert (item["price"], item["currency"], item["regular_price"]) == ("10.00", "EUR", "12.00")


def test_doubts_are_no_part_of_the_stored_item():
    assert "doubts" not in orjson.loads(row(doubts={"price": ["place", "r"]}).body)
