"""Lists that a browser draws, pages without headings, and postage where nothing has a price."""

from crawler.extract import Found, extract, find_links, parse

H1, BUY = "<h1>Red Lamp</h1>", "<button>Add to cart</button>"


def found(body: str, head: str = "", url: str = "https://shop.example/p/red-lamp") -> Found:
    html = f'<html lang="en"><head>{head}</head><body>{body}</body></html>'
    return extract(parse(html, url))


class TestPagesThatAScriptDraws:
    def test_a_list_of_addresses_in_a_script_is_followed_where_no_link_leads_to_a_product(self):
        state = '{"items":[{"url":"/p/1"},{"url":"/p/2"},{"url":"\\/p\\/3"},{"url":"/i/a.jpg"}]}'
        html = f"<html><body><h1>Lamps</h1><script>window.__S={state}</script></body></html>"
        links = find_links(parse(html, "https://shop.example/c/lamps"))
        assert [link.url.rpartition("/p/")[2] for link in links] == ["1", "2", "3"]

    def test_two_addresses_in_a_script_are_no_list(self):
        html = '<html><body><script>x={a:{"url":"/p/1"},b:{"url":"/p/2"}}</script></body></html>'
        assert find_links(parse(html, "https://shop.example/")) == []


class TestPagesWithoutHeadings:
    def test_the_text_in_large_letters_names_the_product_of_a_page_that_has_no_title_of_its_own(
        self,
    ):
        body = "<font size=4><b>Oak mirror</b></font><br>Cat. no: A/301<br>Price: <b>$9.00</b>"
        page = found(body, "<title>Old things</title>", "https://old.example/i.php?d=2&id=301")
        assert (page.kind, page.fields.get("name")) == ("product", "Oak mirror")

    def test_the_shops_name_in_the_first_heading_is_no_products(self):
        head = "<title>Oak mirror 60 cm - Tom's Hardware</title>"
        body = "<h1>Tom's Hardware</h1><h3>Oak mirror 60 cm</h3><p>$9.00</p>" + BUY
        page = found(body, head, "https://www.hardware.example/detail?id=301")
        assert page.fields["name"] == "Oak mirror 60 cm"


def test_postage_in_a_sentence_is_no_price_of_what_is_sold_out():
    body = f"{H1}<p>Sold out</p><p>Item no: 4711</p><p>It is in a good state; shipping costs $35.00.</p>"
    assert "price" not in found(body).fields
