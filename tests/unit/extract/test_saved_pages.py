"""What defeated the parser on pages that other people's projects keep of shops: one case a cause."""

from decimal import Decimal

import pytest

from crawler.extract import Found
from tests.unit.extract.bodies import BUY, H1, found


class TestTwoMonies:
    @pytest.mark.parametrize(
        "told", ["<b>12,50 лв.</b> <b>6,39 €</b>", "<b>12,50 лв. 6,39 €</b>", "12,50 лв. 6,39 €"]
    )
    def test_one_price_in_two_monies_is_no_reduction_and_keeps_its_money(self, told: str) -> None:
        page = found(f"{H1}<div class=price>{told}</div>{BUY}", lang="bg")
        told_as = page.fields["price"], page.fields["currency"]
        assert told_as in {(Decimal("12.50"), "BGN"), (Decimal("6.39"), "EUR")}
        assert "regular_price" not in page.fields


class TestMaker:
    def test_a_maker_beside_the_only_price_speaks_for_a_product(self) -> None:
        body = "{}<div><div>Manufacturer:</div><div>Oakworks</div></div><p>from $12.00</p>"
        assert found(body.format(H1)).kind == "product"

    def test_a_maker_without_a_price_does_not(self) -> None:
        assert found(f"{H1}<div><div>Manufacturer:</div><div>Oakworks</div></div>").kind == "other"


class TestOffers:
    OFFER = "<li><label><div><p>{}</p><b>{}</b></div></label></li>"

    def page(self, *told: str) -> Found:
        offers = "".join(
            self.OFFER.format(name, said) for name, said in zip("ABC", told, strict=True)
        )
        return found(f"{H1}<p>EAN: 4006381333931</p><ul>{offers}</ul>")

    def test_of_several_offers_the_one_with_a_price_can_be_had(self) -> None:
        page = self.page("Not available", "$22.50", "Not available")
        assert page.fields["price"] == Decimal("22.50")
        assert page.fields["availability"] == "InStock"

    def test_one_word_about_the_stock_is_the_products(self) -> None:
        assert self.page("Not available", "$22.50", "200 g").fields["availability"] == "OutOfStock"


class TestNumberOfTheForm:
    def test_a_number_that_a_system_keeps_beside_its_form_is_the_products(self) -> None:
        page = found(
            f"<div class=detail data-pid='NB-0041'>{H1}<b class=price>$238.00</b>{BUY}</div>"
        )
        assert page.fields["sku"] == "NB-0041"

    def test_the_makers_number_is_the_shops_where_it_shows_no_other(self) -> None:
        page = found(f"{H1}<p>Part Number: RL-480X</p><p>$9.00</p>{BUY}")
        assert (page.fields["sku"], page.fields["mpn"]) == ("RL-480X", "RL-480X")

    def test_a_class_may_say_whose_number_it_is(self) -> None:
        page = found(f"{H1}<b class=price>$9.00</b><i class=js-product-sku>42029V</i>{BUY}")
        assert page.fields["sku"] == "42029V"

    def test_an_address_may_name_the_number(self) -> None:
        page = found(
            f"{H1}<b class=price>$9.00</b>", url="https://shop.example/s/lamp.p?skuId=657123"
        )
        assert (page.kind, page.fields["sku"]) == ("product", "657123")


class TestAmounts:
    def test_a_number_behind_a_letter_is_no_rand(self) -> None:
        page = found(f"<h1>Red Lamp, Series 5 R480698486</h1><p>$207.57</p>{BUY}")
        assert (page.fields["price"], page.fields["currency"]) == (Decimal("207.57"), "USD")

    def test_cents_in_a_line_of_the_markup_of_their_own_are_cents(self) -> None:
        money = "<b class=money>\n <i>R$</i>\n <i class=units>799</i>\n <i class=cents>90</i>\n</b>"
        assert found(f"{H1}{money}{BUY}").fields["price"] == Decimal("799.90")

    def test_the_only_amount_right_below_the_heading_is_a_price(self) -> None:
        assert found(f"{H1}<span>$184.00</span>").kind == "product"

    def test_one_of_two_amounts_below_the_heading_may_be_anything(self) -> None:
        assert found(f"{H1}<span>$184.00</span><div>$3.00</div>").kind == "other"


def test_an_offer_in_streamed_state_tells_the_stock() -> None:
    chunk = (
        r"4:{\"product\":{\"name\":\"Red Lamp\",\"sku\":\"RL-9\",\"offers\":{\"price\":\"184.00\","
        r"\"priceCurrency\":\"USD\",\"availability\":\"https://schema.org/OutOfStock\"}}}"
    )
    script = f'<script>self.__next_f.push([1,"{chunk}"])</script>'
    assert found(f"{H1}<span>$184.00</span>{script}").fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("text", "price"),
    [("Rs.500", "500"), ("Rs.1,299.00", "1299.00"), ("kr.199", "199"), ("S/.45.00", "45.00")],
)
def test_the_stop_of_a_currencys_word_is_no_part_of_the_number(text: str, price: str) -> None:
    assert found(f"{H1}<p class=price>{text}</p>{BUY}").fields["price"] == Decimal(price)


class TestNameBesideThePrice:
    """Hand-made shops have one title for all pages, and banners that say what kind a page is."""

    BOX = "<div class=info><{0}>Red Lamp</{0}><p class=price>$9.00</p>{1}</div>"

    @pytest.mark.parametrize("tag", ["h2", "h3", "h4"])
    @pytest.mark.parametrize(
        ("before", "title"),
        [
            ("<div class=banner><h1>Single Product</h1></div>", "Single Product"),
            ("<div class=banner><h2>Product Details</h2></div>", "Lamp House - Product Details"),
            ("<header><h1>Lamp House</h1><nav><a href=/a>All</a></nav></header>", "Lamp House"),
        ],
    )
    def test_the_heading_before_the_price_is_the_name(
        self, before: str, title: str, tag: str
    ) -> None:
        page = found(before + self.BOX.format(tag, BUY), head=f"<title>{title}</title>")
        assert (page.kind, page.fields["name"]) == ("product", "Red Lamp")

    def test_what_the_foot_and_the_title_share_is_the_shops_name(self) -> None:
        body = f"<h1>Red Lamp</h1><p class=price>$9.00</p>{BUY}<footer><h2>Lamphouse</h2></footer>"
        assert found(body, head="<title>Lamphouse</title>").fields["name"] == "Red Lamp"

    def test_a_heading_in_the_head_counts_where_no_menu_is_beside_it(self) -> None:
        body = f"<header><h1>Red Lamp</h1></header><p class=price>$9.00</p>{BUY}<h2>Shop</h2>"
        assert found(body, head="<title>Shop</title>").fields["name"] == "Red Lamp"

    def test_of_three_such_boxes_each_is_a_tile(self) -> None:
        tiles = "".join(self.BOX.format("h3", "") for _ in range(3))
        assert found(tiles, head="<title>Lamp House</title>").kind != "product"


class TestCards:
    def test_a_card_with_nothing_but_a_price_and_a_button_is_the_pages_own(self) -> None:
        card = (
            "<div class=card><b class=price>$9.00</b><a class='btn' href=/orders>Buy now</a></div>"
        )
        assert found(f"{H1}<p>No: RL-9</p>{card}").fields["price"] == Decimal("9.00")

    def test_a_card_with_a_title_is_another_things(self) -> None:
        card = "<div class=card><h3>Blue Lamp</h3><b class=price>$9.00</b><a class=btn href=/b>Buy</a></div>"
        assert "price" not in found(f"{H1}<p>No: RL-9</p>{card}").fields


class TestBrokenData:
    BLOCK = '<script type="application/ld+json">{"@type":"%s","name":%s</script>'

    def test_a_page_whose_only_word_of_a_product_cannot_be_read_says_so(self) -> None:
        long = '"' + "x" * 700_000
        page = found("<p>Loading</p>", head=self.BLOCK % ("Product", long))
        assert page.kind != "product"
        assert "broken or too long" in page.unread["json-ld"]

    def test_a_broken_block_about_other_things_is_not_told(self) -> None:
        assert not found("<p>Loading</p>", head=self.BLOCK % ("Store", '"A" oops [')).unread

    def test_what_a_product_does_not_need_is_not_told(self) -> None:
        body = f"{H1}<p class=price>$9.00</p>{BUY}"
        assert not found(body, head=self.BLOCK % ("Product", '"Red Lamp" oops [')).unread


class TestSumsOfSentences:
    def test_a_sum_that_one_has_to_spend_is_no_price(self) -> None:
        offer = (
            "<p><b>Ob znesku nakupa nad 100 € prejmete dodatnih 20 % popusta na znižane!</b></p>"
        )
        assert "price" not in found(f"{H1}{offer}<p>SKU: A-17</p>{BUY}", lang="sl").fields

    def test_a_sum_in_a_sentence_is_the_price_where_it_says_that_the_thing_costs_it(self) -> None:
        told = "<p>Made by hand of oak, this lamp costs $45.00 with its shade.</p>"
        assert found(f"{H1}{told}<p>SKU: A-17</p>{BUY}").fields["price"] == Decimal("45.00")
        given = "<p>We gave all the $45.00 of each lamp to the school.</p>"
        assert "price" not in found(f"{H1}{given}<p>SKU: A-17</p>{BUY}").fields

    @pytest.mark.parametrize(
        ("lang", "told"),
        [
            ("en", "Price: $25.00 (free delivery on orders of $50)"),
            ("en", "$25.00 - Free shipping on orders over $50"),
            ("fr", "25,00 € livraison offerte dès 50 € d'achat"),
            ("es", "25,00 € (envío gratis a partir de 50 €)"),
            ("en", "From $25.00 (deposit $5)"),
            ("ko", "25원 50,000원 이상 무료배송"),
        ],
    )
    def test_words_before_a_lines_last_amount_are_about_that_one(
        self, lang: str, told: str
    ) -> None:
        assert found(f"{H1}<p>{told}</p>{BUY}", lang=lang).fields["price"] == Decimal("25")

    def test_a_sum_from_which_on_postage_is_free_stands_before_what_it_costs_below(self) -> None:
        body = f"{H1}<p>5만원 이상 무료배송, 배송비 3,000원</p>"
        assert "price" not in found(body, lang="ko").fields


class TestPriceOfAScript:
    FORM = "<div class=price></div><form><input type=number name=quantity value=1>{}</form>"

    def test_what_a_button_sells_and_asks_how_many_of_is_a_product_without_a_price(self) -> None:
        page = found(H1 + self.FORM.format(BUY), url="https://shop.example/red-lamp")
        assert (page.kind, page.fields["availability"]) == ("product", "InStock")

    def test_a_button_that_cannot_be_pressed_sells_nothing(self) -> None:
        button = "<button disabled>Add to cart</button>"
        page = found(H1 + self.FORM.format(button) + "<p>SKU: A-17</p>")
        assert "availability" not in page.fields

    def test_what_one_has_to_ask_for_is_not_said_to_be_in_stock(self) -> None:
        page = found(f"{H1}<p class=price>Price on request</p><p>SKU: A-17</p>{BUY}")
        assert "availability" not in page.fields


class TestBracketsOfAName:
    @pytest.mark.parametrize("told", ["2006-2013", "500ml", "3-pack", "30x60", "2023/24", "128gb"])
    def test_years_sizes_and_packs_stay_in_the_name_though_the_address_has_them(
        self, told: str
    ) -> None:
        body = f"<h1>Red Lamp ({told})</h1><p>$9.00</p><p>SKU: A-17</p>{BUY}"
        page = found(body, url=f"https://shop.example/red-lamp-{told}")
        assert (page.fields["name"], page.fields["sku"]) == (f"Red Lamp ({told})", "A-17")


class TestHiddenPieces:
    @pytest.mark.parametrize("hidden", ["sr-only", "visually-hidden"])
    def test_a_decimal_sign_for_who_hears_the_page_joins_the_cents(self, hidden: str) -> None:
        told = f'<p>899<span class="{hidden}">,</span><span>10€</span></p>'
        page = found(f"{H1}<div class=price>{told}</div>{BUY}", lang="de")
        assert page.fields["price"] == Decimal("899.10")

    def test_a_hidden_price_stays_hidden(self) -> None:
        told = "<p class=d-none>5<span>,</span><span>10€</span></p><p>7,00 €</p>"
        page = found(f"{H1}<div class=price>{told}</div>{BUY}", lang="de")
        assert page.fields["price"] == Decimal("7.00")


def test_a_systems_data_about_the_pages_own_product_needs_no_name() -> None:
    data = (
        '{"product_attributes":{"sku":"A-17","upc":null,"instock":false,"price":{"with_tax":{"value":'
        '129.71,"currency":"GBP"},"without_tax":{"value":108.09,"currency":"GBP"}}}}'
    )
    page = found(f"{H1}<script>var BCData = {data};</script><p>Qty</p>{BUY}")
    assert (page.fields["price"], page.fields["currency"]) == (Decimal("129.71"), "GBP")
    assert page.fields["sku"] == "A-17"


def test_a_long_remark_about_tax_and_postage_ends_no_amount_without_a_currency() -> None:
    told = "<b class=price>211,<sup>04</sup></b> <i>inkl. 20% MwSt., zzgl. Versandkosten</i>"
    page = found(f"{H1}<div>{told}</div>{BUY}", lang="de")
    assert page.fields["price"] == Decimal("211.04")


def test_a_description_that_is_missing_says_nothing_about_the_stock() -> None:
    for told in ("Marketingbeschreibung nicht verfügbar.", "No description available"):
        assert "availability" not in found(f"{H1}<p class=price>9,00 €</p><p>{told}</p>").fields
    page = found(f"{H1}<p class=price>9,00 €</p><p>Product not available</p>")
    assert page.fields["availability"] == "OutOfStock"


class TestNumbersOfTwoKinds:
    BODY = f"<h1>Red Lamp (71862004)</h1><p>Item no. <b>7K05512</b></p><p>$9.00</p>{BUY}"

    def test_the_labelled_number_of_the_address_is_the_shops_not_the_one_in_brackets(self) -> None:
        page = found(self.BODY, url="https://shop.example/red-lamp-71862004-7k05512")
        assert (page.fields["name"], page.fields["sku"]) == ("Red Lamp (71862004)", "7K05512")

    def test_the_number_in_brackets_is_the_shops_where_the_address_has_no_other(self) -> None:
        page = found(self.BODY, url="https://shop.example/red-lamp-71862004")
        assert (page.fields["name"], page.fields["sku"]) == ("Red Lamp", "71862004")

    def test_a_label_may_shorten_the_maker_before_its_number(self) -> None:
        rows = "<tr><td>Artikelnummer:</td><td>88120044</td></tr>{}"
        made = "<tr><td>Herst.-Artikelnummer:</td><td>RL.40-7N.E03</td></tr>"
        body = f"{H1}<p>9,00 €</p><table>{rows.format(made)}</table>{BUY}"
        fields = found(body, lang="de").fields
        assert (fields["sku"], fields["mpn"]) == ("88120044", "RL.40-7N.E03")


def test_a_row_that_lays_out_the_page_is_no_detail() -> None:
    facts = (
        "<table><tr><td>Colour</td><td>Red, as lamps were in the workshop of old</td></tr></table>"
    )
    told = "Packed by hand in our workshop and sent on the day on which you order it from us."
    layout = f"<table><tr><td>(picture)</td><td>{told}{facts}</td></tr></table>"
    page = found(f"{H1}<p class=price>$9.00</p>{BUY}{layout}")
    assert list(page.fields["attributes"]) == ["Colour"]


class TestExtras:
    """A guarantee is offered in rows, of which the selected one costs nothing."""

    ROW = "<tr><td><input type=radio name=g {}></td><td>{}</td><td class=price>{}</td></tr>"

    def page(self, none: str, other: str) -> Found:
        rows = self.ROW.format("checked", "Guarantee", none)
        rows += self.ROW.format("", "3-year guarantee", other)
        return found(f"{H1}<p>SKU: A-17</p><table>{rows}</table>{BUY}")

    def test_what_a_guarantee_costs_is_no_price(self) -> None:
        assert "price" not in self.page("none", "$9.90").fields

    def test_of_two_choices_with_an_amount_one_is_the_price(self) -> None:
        assert "price" in self.page("$4.90", "$9.90").fields


class TestOwnColumn:
    FACTS = "<p>CODE: NK-40KT</p><p>Availability: In stock</p>"

    @pytest.mark.parametrize(
        ("column", "number"), [("product-big__sidebar-end", "NK-40KT"), ("page__sidebar", None)]
    )
    def test_a_column_of_the_products_block_holds_its_facts(
        self, column: str, number: str | None
    ) -> None:
        page = found(f"{H1}<p class=price>$9.00</p>{BUY}<div class={column}>{self.FACTS}</div>")
        assert page.fields.get("sku") == number

    @pytest.mark.parametrize(
        ("foot", "kind"),
        [
            ("details-footer", "product"),
            ("product__footer", "product"),
            ("card-footer", "product"),
            ("product-info-footer", "product"),
            ("products-page-footer", "other"),
            ("site-footer", "other"),
        ],
    )
    def test_the_foot_of_the_products_block_holds_its_price(self, foot: str, kind: str) -> None:
        page = found(f"{H1}<p>By Oakes</p><div class={foot}><p class=price>$9.00</p>{BUY}</div>")
        assert page.kind == kind


class TestSentenceForMaker:
    @pytest.mark.parametrize(
        ("told", "brand"),
        [
            ("We gladly replace this lamp if it is not bright enough", None),
            ("House of Oak and Sons of Kent and York", "House of Oak and Sons of Kent and York"),
        ],
    )
    def test_a_sentence_under_the_label_is_no_maker(self, told: str, brand: str | None) -> None:
        page = found(
            f"{H1}<p class=price>$9.00</p>{BUY}<h3>Manufacturer</h3><div><p>{told}</p></div>"
        )
        assert page.fields.get("brand") == brand


class TestPictureForCaption:
    @pytest.mark.parametrize(
        ("picture", "stock"), [("AddCartButton.gif?t=14", "InStock"), ("arrow.gif", None)]
    )
    def test_a_button_without_a_caption_may_have_a_picture_that_says_it_buys(
        self, picture: str, stock: str | None
    ) -> None:
        page = found(
            f"{H1}<p class=price>$9.00</p><form action=/cart.php method=post>"
            f"<input name=qty value=1><input type=image src=/img/{picture} alt=''></form>"
        )
        assert page.fields.get("availability") == stock


class TestAddresses:
    def test_a_general_parameter_holds_the_number_of_a_script_that_shows_products(self) -> None:
        page = found(
            f"{H1}<p class=price>$9.00</p>{BUY}", url="https://shop.example/en/product?code=31273"
        )
        assert page.fields["sku"] == "31273"

    def test_the_page_of_a_products_reviews_is_no_product(self) -> None:
        body = "<h3>Red Lamp</h3><p>In stock</p><p class=price>$9.00</p><input name=qty value=1>"
        assert found(body).kind == "product"
        assert found(body, url="https://shop.example/review/product/list/id/42/").kind == "other"
