"""Six unlike shops without structured data, from their listing to each field of each product."""
# ruff: noqa: N806, B007

import json
from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse


def _tables():
    goods = [
        (101, "Hrnek modrý 0,3 l", 189, None, True, "HR-101"),
        (102, "Talíř mělký 24 cm", 249, 299, True, "TA-102"),
        (103, "Džbán 2 l", 890, None, False, "DZ-103"),
    ]
    menu = '<table width=900><tr><td width=180 valign=top><a href="index.htm">Úvod</a><br><a href="keramika.htm">Keramika</a><br><a href="sklo.htm">Sklo</a><br><a href="kontakt.htm">Kontakt</a></td><td>'
    L = (
        "<html lang=cs><head><title>Keramika Novák - hrnky</title></head><body>"
        + menu
        + "<font size=5>Keramika</font><table>"
    )
    for i, n, p, o, st, sku in goods:
        L += f'<tr><td><img src="obr/{i}.jpg" width=100></td><td><a href="detail_{i}.htm">{n}</a></td><td>{p},- Kč</td></tr>'
    L += "</table></td></tr></table></body></html>"
    P = {}
    for i, n, p, o, st, sku in goods:

        def row(k, v):
            return f"<tr><td bgcolor=#eeeeee><b>{k}</b></td><td>{v}</td></tr>"

        P[f"https://keramika.example.cz/detail_{i}.htm"] = (
            f"<html lang=cs><head><title>{n} - Keramika Novák</title></head><body>"
            + menu
            + f'<font size=5><b>{n}</b></font><br><table><tr><td><img src="obr/{i}v.jpg" width=300 alt="{n}"></td><td><table>'
            + row("Kód zboží", sku)
            + (row("Původní cena", f"<s>{o},- Kč</s>") if o else "")
            + row("Cena s DPH", f"<font color=red><b>{p},- Kč</b></font>")
            + row("Cena bez DPH", f"{p / 1.21:.2f} Kč".replace(".", ","))
            + row("Dostupnost", "skladem" if st else "vyprodáno")
            + row("Výrobce", "Novák")
            + row("Hmotnost", "0,4 kg")
            + "</table>"
            + (
                '<form action=kosik.php method=post><input name=ks size=2 value=1> ks <input type=submit value="Do košíku"></form>'
                if st
                else ""
            )
            + "</td></tr></table><p>Ručně vyrobeno. Objednávky nad 2 000,- Kč zdarma.</p></td></tr></table></body></html>",
            {
                "name": n,
                "price": Decimal(p),
                "regular_price": Decimal(o) if o else None,
                "currency": "CZK",
                "availability": "InStock" if st else "OutOfStock",
                "sku": sku,
                "brand": "Novák",
            },
        )
    return "https://keramika.example.cz/keramika.htm", L, P


def _terms():
    goods = [
        ("a1001", "有田焼 湯呑み 青海波", 3300, None, True),
        ("a1002", "南部鉄器 急須 0.6L", 12800, 16000, True),
        ("a1003", "江戸切子 ぐい呑み", 8800, None, False),
    ]
    L = '<html lang="ja"><head><title>湯呑み・急須｜和の器 さくら堂</title></head><body><header><a href="/">和の器 さくら堂</a></header><h1>湯呑み・急須</h1><p>全3件</p><ul class="itemList">'
    for c, n, p, o, st in goods:
        L += f'<li><a href="/shopdetail/{c}/"><img src="/img/{c}.jpg" alt="{n}"><p class="name">{n}</p></a><p>{p:,}円(税込)</p></li>'
    L += "</ul></body></html>"
    P = {}
    for c, n, p, o, st in goods:
        P[f"https://sakurado.example.jp/shopdetail/{c}/"] = (
            f'<html lang="ja"><head><title>{n}｜和の器 さくら堂</title></head><body><div id="topicpath"><a href="/">ホーム</a> &gt; <a href="/shop/yunomi/">湯呑み・急須</a> &gt; {n}</div><h2 id="itemName">{n}</h2><div class="photo"><img src="/img/{c}_l.jpg" alt=""></div><dl class="spec"><dt>商品番号</dt><dd>{c}</dd>'
            + (f"<dt>通常価格</dt><dd>{o:,}円(税込)</dd>" if o else "")
            + f"<dt>販売価格</dt><dd><b>{p:,}円</b>(税込)</dd><dt>ポイント</dt><dd>{p // 100}ポイント</dd><dt>在庫</dt><dd>{'あり' if st else '在庫切れ'}</dd><dt>サイズ</dt><dd>直径8cm × 高さ9cm</dd></dl><p>送料：全国一律 660円（11,000円以上送料無料）</p>"
            + (
                '<form><select name="num"><option>1</option></select><input type="image" src="cart.gif" alt="カートに入れる"></form>'
                if st
                else "<p>SOLD OUT</p>"
            )
            + "</body></html>",
            {
                "name": n,
                "price": Decimal(p),
                "regular_price": Decimal(o) if o else None,
                "currency": "JPY",
                "availability": "InStock" if st else "OutOfStock",
                "sku": c,
            },
        )
    return "https://sakurado.example.jp/shop/yunomi/", L, P


def _script_state():
    goods = [
        (5501, "Pamuklu Nevresim Takımı Çift Kişilik", 1299.9, 1899.9, True, "NVR-5501"),
        (5502, "Bambu Havlu 50x90", 189.5, None, True, "HVL-5502"),
        (5503, "Yün Battaniye", 2450, None, False, "BTN-5503"),
    ]
    L = '<html lang="tr"><head><title>Ev Tekstili | Evim</title></head><body><div id="app"></div>'
    L += (
        '<h1>Ev Tekstili</h1><div class="grid">'
        + "".join(
            f'<div class="p-card"><a href="/urun/{g[0]}"><img src="/i/{g[0]}.jpg"><span>{g[1]}</span></a><span>{g[2]:,.2f} TL</span></div>'.replace(
                ",", "#"
            )
            for g in goods
        )
        + "</div></body></html>"
    )
    P = {}
    for i, n, p, o, s, sku in goods:
        state = {
            "product": {
                "id": i,
                "name": n,
                "stockCode": sku,
                "brand": {"name": "Evim"},
                "salePrice": p,
                "listPrice": o or p,
                "currency": "TRY",
                "inStock": s,
                "images": [{"url": f"/i/{i}.jpg"}],
            },
            "user": None,
        }

        def tr(v):
            return f"{v:,.2f}".replace(",", "#").replace(".", ",").replace("#", ".")

        P[f"https://evim.example.com.tr/urun/{i}"] = (
            f'<html lang="tr"><head><title>{n} | Evim</title><script>var __PRODUCT_STATE__ = {json.dumps(state)};</script></head><body><div id="app"><h1>{n}</h1><div class="pr">'
            + (f'<span class="prOld">{tr(o)} TL</span>' if o else "")
            + f'<span class="prNew">{tr(p)} TL</span></div><div>Stok Kodu: {sku}</div>'
            + (
                '<button id="addBtn">Sepete Ekle</button>'
                if s
                else "<button disabled>Stokta Yok</button>"
            )
            + f"<div>9 taksit x {tr(p / 9)} TL</div></div></body></html>",
            {
                "name": n,
                "price": Decimal(str(p)),
                "regular_price": Decimal(str(o)) if o else None,
                "currency": "TRY",
                "availability": "InStock" if s else "OutOfStock",
                "sku": sku,
            },
        )
    return "https://evim.example.com.tr/ev-tekstili", L, P


def _right_to_left():
    goods = [
        (71, "عطر العود الملكي 100 مل", 345, 450, True, "OUD-71"),
        (72, "بخور معمول فاخر", 120, None, True, "BKH-72"),
        (73, "مسك الطهارة", 85.5, None, False, "MSK-73"),
    ]
    L = (
        '<html lang="ar" dir="rtl"><head><title>العطور - متجر الطيب</title></head><body><h1>العطور</h1>'
        + "".join(
            f'<div class="product-entry"><a href="/ar/perfume-{g[0]}/p{g[0]}1234"><img src="/{g[0]}.png"><h3>{g[1]}</h3></a><h4>{g[2]} ر.س</h4></div>'
            for g in goods
        )
        + "</body></html>"
    )
    P = {}
    for i, n, p, o, s, sku in goods:
        P[f"https://teeb.example.com/ar/perfume-{i}/p{i}1234"] = (
            f'<html lang="ar" dir="rtl"><head><title>{n} - متجر الطيب</title></head><body><nav class="breadcrumbs"><a href="/ar">الرئيسية</a> / <a href="/ar/c1">العطور</a> / <span>{n}</span></nav><div class="details"><h1>{n}</h1><div>رقم الموديل: {sku}</div><h2>'
            + (f"{p} ر.س <s>{o} ر.س</s>" if o else f"{p} ر.س")
            + "</h2><p>السعر شامل الضريبة</p><p>أو قسّمها على 4 دفعات بقيمة "
            + f"{p / 4:.2f} ر.س بدون فوائد</p>"
            + (
                '<button type="button">إضافة للسلة</button>'
                if s
                else "<span>نفدت الكمية</span><button>أعلمني عند التوفر</button>"
            )
            + "</div></body></html>",
            {
                "name": n,
                "price": Decimal(str(p)),
                "regular_price": Decimal(o) if o else None,
                "currency": "SAR",
                "availability": "InStock" if s else "OutOfStock",
                "sku": sku,
            },
        )
    return "https://teeb.example.com/ar/c1", L, P


def _swatches():
    goods = [
        (
            "merino-jumper",
            "Merino Crew Jumper",
            79,
            None,
            True,
            [("Navy", 79), ("Rust", 79), ("Oat XL", 85)],
        ),
        ("field-jacket", "Waxed Field Jacket", 195, 240, True, [("Olive", 195), ("Black", 205)]),
        ("wool-socks", "Wool Socks 3 Pack", 18, None, False, [("Grey", 18), ("Green", 18)]),
    ]
    L = (
        '<html lang="en-GB"><head><title>Menswear – Fell &amp; Co</title></head><body><main><h1>Menswear</h1>'
        + "".join(
            f'<article><a href="/shop/{g[0]}"><img src="/{g[0]}.jpg"></a><a href="/shop/{g[0]}">{g[1]}</a><p>£{g[2]}.00</p></article>'
            for g in goods
        )
        + "</main></body></html>"
    )
    P = {}
    for sl, n, p, o, s, vs in goods:
        sw = "".join(
            f'<label class="swatch"><input type="radio" name="v" value="{i}"{" disabled" if not s else ""}><span>{v}</span><em>£{q:.2f}</em></label>'
            for i, (v, q) in enumerate(vs)
        )
        P[f"https://fellco.example.co.uk/shop/{sl}"] = (
            f'<html lang="en-GB"><head><title>{n} – Fell &amp; Co</title><meta property="og:title" content="{n}"></head><body><header><a href="/basket">Basket £0.00</a></header><main><div class="gallery"><img src="/{sl}-1.jpg" alt="{n}"></div><div class="info"><h1>{n}</h1><p class="cost">'
            + (f"<del>£{o}.00</del> " if o else "")
            + f"£{p}.00</p><p>or 3 payments of £{p / 3:.2f} with Klarna</p><fieldset><legend>Colour</legend>{sw}</fieldset>"
            + ("<button>Add to basket</button>" if s else "<button disabled>Out of stock</button>")
            + f"<ul><li>Product code: FC-{sl[:4].upper()}9</li><li>Free delivery over £60</li></ul></div></main><section><h2>You may also like</h2>"
            + "".join(
                f'<article><a href="/shop/{g[0]}">{g[1]}</a><p>£{g[2]}.00</p></article>'
                for g in goods
                if g[0] != sl
            )
            + "</section></body></html>",
            {
                "name": n,
                "price": Decimal(p),
                "regular_price": Decimal(o) if o else None,
                "currency": "GBP",
                "availability": "InStock" if s else "OutOfStock",
                "sku": f"FC-{sl[:4].upper()}9",
            },
        )
    return "https://fellco.example.co.uk/menswear", L, P


def _market():
    goods = [
        ("884211", "Bosch Akkuschrauber GSR 12V", 129.95, 159, True, "Werkzeug24"),
        ("884212", "Makita Stichsäge 4329", 84.5, None, True, "ToolPoint"),
        ("884213", "Metabo Winkelschleifer W 750", None, None, False, None),
    ]
    L = (
        '<html lang="de"><head><title>Elektrowerkzeug kaufen | Marktplatz</title></head><body><h1>Elektrowerkzeug</h1>'
        + "".join(
            f'<div class="offer-tile"><a href="/angebot/{g[0]}-{g[1].lower().replace(" ", "-")}"><img src="/{g[0]}.jpg"><h3>{g[1]}</h3></a>'
            + (
                f"<b>{g[2]:.2f} €</b>".replace(".", ",")
                if g[2]
                else "<i>derzeit nicht lieferbar</i>"
            )
            + "</div>"
            for g in goods
        )
        + "</body></html>"
    )
    P = {}

    def de(v):
        return f"{v:.2f} €".replace(".", ",")

    for i, n, p, o, s, seller in goods:
        others = (
            "".join(
                f"<tr><td>{x}</td><td>{de(q)}</td><td>zzgl. {de(4.95)} Versand</td><td><button>In den Warenkorb</button></td></tr>"
                for x, q in (
                    ("Baumarkt Müller", p * 1.03),
                    ("Eisen Karl", p * 0.97),
                    ("Profi-Tools", p * 1.1),
                )
            )
            if p
            else ""
        )
        P[f"https://marktplatz.example.de/angebot/{i}-{n.lower().replace(' ', '-')}"] = (
            f'<html lang="de"><head><title>{n} kaufen | Marktplatz</title></head><body><div class="crumbs"><a href="/">Start</a><a href="/c/elektrowerkzeug">Elektrowerkzeug</a></div><h1>{n}</h1>'
            + (
                '<div class="buybox"><div>'
                + (f"<span>UVP {de(o)}</span> " if o else "")
                + f"<strong>{de(p)}</strong></div><div>inkl. MwSt., zzgl. 4,95 € Versand</div><div>Verkauf durch {seller}</div><div>Auf Lager, Lieferung in 2-3 Tagen</div><button>In den Warenkorb</button></div>"
                if p
                else '<div class="buybox"><p>Derzeit nicht verfügbar</p><p>Wir wissen nicht, ob und wann dieser Artikel wieder vorrätig ist.</p></div>'
            )
            + f"<h2>Produktdetails</h2><table><tr><th>Artikelnummer</th><td>{i}</td></tr><tr><th>Marke</th><td>{n.split()[0]}</td></tr></table>"
            + (f"<h2>Weitere Anbieter</h2><table>{others}</table>" if p else "")
            + "</body></html>",
            {
                "name": n,
                "price": Decimal(str(p)) if p else None,
                "regular_price": Decimal(o) if o else None,
                "currency": "EUR" if p else None,
                "availability": "InStock" if s else "OutOfStock",
                "sku": i,
                "brand": n.split()[0],
            },
        )
    return "https://marktplatz.example.de/c/elektrowerkzeug", L, P


SHOPS = {
    "hand-made tables": _tables,
    "terms and their meanings": _terms,
    "state in a script's variable": _script_state,
    "right to left": _right_to_left,
    "swatches with prices": _swatches,
    "other sellers, and nothing to buy": _market,
}


@pytest.mark.parametrize("shop", SHOPS)
def test_all_products_of_a_shop_are_found_and_read(shop):
    url, listing, products = SHOPS[shop]()
    page = parse(listing.encode(), url, "text/html; charset=utf-8")
    assert extract(page).kind != "product"
    linked = {parse(b"", link.url).url for link in find_links(page)}
    for address, (html, expected) in products.items():
        assert address in linked or not address.isascii()
        found = extract(parse(html.encode(), address, "text/html; charset=utf-8"))
        assert found.kind == "product", found.verdict.reasons
        told = {field: found.fields.get(field) for field in expected}
        assert told == expected


@pytest.mark.parametrize(
    ("stock", "expected"),
    [
        ("Existencias: Sí<BR>", "InStock"),
        ("Existencias: No<BR>", "OutOfStock"),
        ('<FORM METHOD=POST><INPUT TYPE=SUBMIT VALUE="Agregar al carrito"></FORM>', "InStock"),
    ],
)
def test_an_old_template_says_the_stock_in_a_word_or_by_an_input_in_capitals(
    stock: str, expected: str
) -> None:
    html = (
        "<HTML><TITLE>Corazón - Discos</TITLE><BODY><TABLE><TR><TD><FONT SIZE=5><B>Corazón</B></FONT>"
        f'<BR><IMG SRC="/f/1.jpg"><BR>Clave: DA/104<BR>Precio: <B>$1,465.00 MXN</B><BR>{stock}'
        '<A HREF="catalogo.php?cat=1">Regresar</A></TD></TR></TABLE></BODY></HTML>'
    )
    found = extract(parse(html, "https://discos.example/tienda/ficha.php?disco=104"))
    assert found.fields.get("availability") == expected


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "iso-2022-jp"])
def test_a_yen_sign_with_the_backslashs_byte_is_one(encoding: str) -> None:
    html = (
        f'<html lang="ja"><meta charset="{encoding}"><title>紬 藍 | 店</title><h1>紬 藍</h1>'
        '<img src="/i/1.jpg"><p>価格：\\26,400（税込）<br>税抜 \\24,000</p><p>在庫：1点</p>'
        "<form method=post action=/cart><button>買い物かごに入れる</button></form></html>"
    )
    found = extract(parse(html.encode(encoding), "https://kimono.example/item/5000"))
    assert (found.fields.get("price"), found.fields.get("currency")) == (Decimal(26400), "JPY")
