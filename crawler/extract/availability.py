"""Whether a thing can be had: schema.org's names, shop systems' codes and words of many tongues."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from crawler.extract.words import finder, whole

#: schema.org's ItemAvailability, by its name in lower case.
_NAMES = {
    name.lower(): name
    for name in (
        "BackOrder", "Discontinued", "InStock", "InStoreOnly", "LimitedAvailability",
        "MadeToOrder", "OnlineOnly", "OutOfStock", "PreOrder", "PreSale", "Reserved", "SoldOut",
    )
}  # fmt: skip
_CODES = {
    "instock": "InStock", "in_stock": "InStock", "available": "InStock", "true": "InStock",
    "oos": "OutOfStock", "outofstock": "OutOfStock", "unavailable": "OutOfStock",
    "false": "OutOfStock", "notavailable": "OutOfStock", "availablefororder": "BackOrder",
    "pending": "PreOrder", "lowstock": "LimitedAvailability", "onbackorder": "BackOrder",
}  # fmt: skip

#: What is longer is no word about a stock, and is read so far.
_LONGEST = 500
_APART = re.compile(r"[\s_-]")
#: What is said of a thing that is not to be had comes first: "not in stock" holds "in stock".
_PHRASES = (
    ("Discontinued", r"discontinued|no longer available|nicht mehr lieferbar|nicht mehr verfügbar"
     r"|plus disponible|n'est plus disponible|descatalogado|fuori produzione|снят с производства"
     r"|niet meer leverbaar|udgået|utgått"),
    ("PreOrder", r"pre-?\s?order|available for pre-?order|vorbestell\w*|précommande\w*|pré-commande"
     r"|preventa|reserva ahora|pre-?ordine|preordina|preordine|предзаказ|przedsprzedaż|pré-venda"
     r"|förbeställ\w*|forudbestil\w*|pre-?orden|予約受付|予約商品|预售|ön sipariş"),
    ("BackOrder", r"back-?\s?order(?:ed)?|available on backorder|nachbestellt|sur commande"
     r"|op nabestelling|на заказ|под заказ|na zamówienie|bajo pedido|beställningsvara"),
    ("OutOfStock", r"out[\s-]of[\s-]stock|sold[\s-]?out|not in stock|no stock|currently unavailable"
     r"|temporarily unavailable|not available|\bunavailable|notify me when|email when available"
     r"|(?<!\d)(?<![.,])0 in stock|ausverkauft|nicht (?:auf lager|vorrätig|verfügbar|lieferbar)|derzeit nicht"
     r"|zur ?zeit nicht|vergriffen|rupture|épuisé|indisponible|hors stock|non disponible|agotado"
     r"|sin (?:stock|existencias)|no disponible|no hay stock|esaurito|non disponibile|esgotado"
     r"|indisponível|sem estoque|fora de estoque|sem stock|fora de stock|avise-me|uitverkocht|niet (?:op|in) voorraad"
     r"|niet leverbaar|niet beschikbaar|wyprzedan\w*|brak w magazynie|niedostępn\w*|produkt niedost"
     r"|нет в наличии|распродан\w*|отсутствует|немає в наявності|slutsåld|slut i lager|ej i lager"
     r"|finns ej|udsolgt|ikke på lager|utsolgt|loppu|ei varastossa|vyprodáno|není skladem"
     r"|nedostupn\w*|vypredané|elfogyott|nincs (?:készleten|raktáron)|stoc epuizat|indisponibil"
     r"|stokta yok|tükendi|在庫切れ|在庫なし|売り切れ|売切れ|品切れ|缺货|缺貨|售罄|已售完|无货|품절"
     r"|εξαντλ\w*|(?:stock|bestand|lagerbestand|quantity|disponibles?) ?: ?0+(?!\d)|μη διαθέσιμο|غير متوفر|אזל מהמלאי|rasprodano|nije dostupno"),
    ("InStock", r"in[\s-]stock|available now|\bavailable\b|ready to ship|ships? (?:today|within|in \d)"
     r"|usually ships|\d in stock|\d available|(?:stock|bestand|lagerbestand|stok) ?: ?[1-9]\d*|left in stock|auf lager|vorrätig|verfügbar|lieferbar|lagernd"
     r"|sofort (?:versand|liefer)\w*|en stock|disponible|in pronta consegna|disponibile|in magazzino"
     r"|em estoque|em stock|disponível|op voorraad|in voorraad|leverbaar|beschikbaar|na stanie"
     r"|dostępn\w*|w magazynie|в наличии|есть в наличии|на складе|є в наявності|в наявності|i lager"
     r"|på lager|varastossa|skladem|na sklade|skladom|na skladě|készleten|raktáron|în stoc|in stoc"
     r"|stokta var|stokta|在庫あり|在庫有|有货|现货|有貨|현货|재고 있음|διαθέσιμο|σε απόθεμα|متوفر"
     r"|במלאי|na zalihi|dostupno"),
)  # fmt: skip
#: Letters of scripts that divide words; others run on.
_LETTER = r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]"
_RULES = [(name, finder(rf"(?<!{_LETTER})(?:{words})(?!{_LETTER})")) for name, words in _PHRASES]
#: Whether any of them is worth trying.
_SOME = finder(rf"(?<!{_LETTER})(?:{'|'.join(words for _, words in _PHRASES)})(?!{_LETTER})")
#: What a button says when the thing can be put into a cart. What must stand before the words is
#: asked behind them: a pattern whose parts all begin with a letter skips what begins no part.
BUY = finder(
    r"add to (?<=\badd to )(?:cart|bag|basket|trolley)|buy (?<=\bbuy )(?:it )?now|place (?:a )?bid|gebot abgeben|in den (?:waren|einkaufs)korb"
    r"|jetzt kaufen|ajouter au panier|acheter|añadir al carrito|agregar al carrito|comprar"
    r"|aggiungi al carrello|acquista|adicionar ao carrinho|in (?:winkelwagen|winkelmand)"
    r"|do koszyka|dodaj do koszyka|в корзину|купить|до кошика|lägg i (?:varukorg|kundvagn)"
    r"|læg i kurv|legg i handlekurv|lisää ostoskoriin|do košíku|do košíka|kosárba|adaugă în coș"
    r"|sepete ekle|カートに入れる|カートに追加|加入购物车|加入購物車|장바구니|στο καλάθι|dodaj u košaricu"
    r"|thêm vào giỏ|mua ngay|הוסף לסל|أضف إلى السلة|tambah ke keranjang|aggiungi al|adaugă în|kjøp"
    r"|přidat do|vložit do|pridať do|kosárba|add to order|add item|order now(?<!pre-order now)(?<!pre order now)(?<=\border now)|purchase now|order online(?<=\border online)",
)
#: The same in one word, which only a button may say.
_BUY_SHORT = whole(
    r"\s*(?:buy|order|purchase|add|kaufen|bestellen|acheter|commander|ordina|compra|köp|kup|osta|koupit"
    r"|kúpiť|vásárlás|kjøp|køb|koop|купи|sipariş|satın al)\W*",
)


def availability(value: Any) -> str | None:
    """Read structured data's value: a schema.org URL or name, a code, or words.

    >>> availability("https://schema.org/InStock"), availability("oos"), availability("preorder")
    ('InStock', 'OutOfStock', 'PreOrder')
    """
    if isinstance(value, bool):
        return "InStock" if value else "OutOfStock"
    if not isinstance(value, str):
        return None
    value = value[:_LONGEST]
    short = value.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2]
    if short.lower().startswith("schema:"):
        short = short[7:]
    key = _APART.sub("", short.lower())
    return _NAMES.get(key) or _CODES.get(key) or availability_of_text(value)


@lru_cache(maxsize=512)
def buys(text: str) -> bool:
    """Whether a button's text puts the thing into a cart.

    >>> buys("In den Warenkorb"), buys("Add to wish list")
    (True, False)
    """
    return BUY(text) is not None


@lru_cache(maxsize=512)
def buys_in_short(text: str) -> bool:
    """The same for what is surely a button.

    >>> buys_in_short("Buy"), buys_in_short("Buying guide")
    (True, False)
    """
    return BUY(text) is not None or _BUY_SHORT(text) is not None


@lru_cache(maxsize=512)
def availability_of_text(text: str) -> str | None:
    """Read a sentence.

    >>> availability_of_text("Currently not in stock"), availability_of_text("Auf Lager (3)")
    ('OutOfStock', 'InStock')
    """
    if _SOME(text) is None:
        return None
    return next((name for name, says in _RULES if says(text)), None)
