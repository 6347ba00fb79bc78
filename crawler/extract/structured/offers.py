"""The offers of a product: price, currency, availability and codes."""

from __future__ import annotations

from typing import Any

from crawler.extract.fields import Fields
from crawler.extract.money.amounts import number, sure_currency
from crawler.extract.money.currencies import currency_of
from crawler.extract.stock.availability import availability
from crawler.extract.structured.nodes import (
    Node,
    as_list,
    first_value,
    gtin_of,
    is_in_address,
    plain_text,
    stated_text,
    types,
)

#: Properties of offers, by their names in lower case: some shops write `PriceCurrency`.
_PROPERTIES = {name.lower(): name for name in ("price", "lowPrice", "priceCurrency")}
#: Offers of one product that are read.
_MAX_OFFERS = 1000


def best_stock(stock: str | None, stocks: list[str | None]) -> str | None:
    """Return the availability of several variants: one in stock, or that can be ordered, suffices.

    >>> best_stock("OutOfStock", ["OutOfStock", "PreOrder"]), best_stock("PreOrder", ["InStock"])
    ('PreOrder', 'InStock')
    """
    if "InStock" in stocks or stock not in {"OutOfStock", "SoldOut"}:
        return "InStock" if "InStock" in stocks else stock
    return next((best for best in ("PreOrder", "BackOrder") if best in stocks), stock)


def matching_url(nodes: list[Node], url: str) -> Node | None:
    """Return the node whose code or link the page's address contains."""
    by_code = [node for node in nodes if is_in_address(node, url)]
    if len(by_code) == 1:
        return by_code[0]
    if "?" not in url and "#" not in url:
        return None
    for node in nodes:
        offers = offers_of(node.get("offers")) if "offers" in node else []
        links = [plain_text(node.get("url")), plain_text(node.get("@id"))]
        links += [plain_text(offer.get("url")) for offer in offers]
        if any(link and "?" in link and link.rpartition("/")[2] in url for link in links):
            return node
    return None


def offers_of(value: Any) -> list[Node]:
    """Return the offers of a product; those of an AggregateOffer follow it."""
    offers = []
    if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
        value = list(value.values())  # a list that PHP wrote as a mapping by index
    for offer in as_list(value)[:_MAX_OFFERS]:
        if not isinstance(offer, dict):
            continue
        offers.append(offer)
        if "offers" in offer:
            offers += _inner_offers(offer)
    if len(offers) > 1:
        offers = [o for o in offers if _sells_one(o)] or offers
        if any("itemCondition" in offer for offer in offers):
            offers = _unless_used(offers)
    return offers[:_MAX_OFFERS]


def _unless_used(offers: list[Node]) -> list[Node]:
    """Return the offers of new pieces, if used ones are offered beside them; else all of *offers*.

    The lowest price of an AggregateOffer is that of a used piece then.
    """
    is_new = [str(plain_text(o.get("itemCondition"))).endswith("NewCondition") for o in offers]
    used = ["itemCondition" in o and not new for o, new in zip(offers, is_new, strict=True)]
    new_offers = [o for o, new in zip(offers, is_new, strict=True) if new]
    is_sold = all(stock_of(offer) in {"OutOfStock", "SoldOut"} for offer in new_offers)
    return offers if is_sold or not any(used) else new_offers


def _inner_offers(offer: Node) -> list[Node]:
    """Return the offers that an AggregateOffer holds, with its currency where they have none."""
    inner = [o for o in as_list(offer["offers"])[:_MAX_OFFERS] if isinstance(o, dict)]
    if (code := _currency(offer)) is None:
        return inner
    return [o if _currency(o) else {**o, "priceCurrency": code} for o in inner]


def _sells_one(offer: Node) -> bool:
    """Whether an offer is one to buy, and of one piece for everyone."""
    function = str(plain_text(offer.get("businessFunction")))
    return _is_for_all(offer) and not function.endswith("LeaseOut")


def _is_for_all(node: Node) -> bool:
    """Whether an offer or price is not that of members, or of a larger quantity."""
    if "validForMemberTier" in node:
        return False
    quantity = node.get("eligibleQuantity")
    lowest = number(plain_text(quantity.get("minValue"))) if isinstance(quantity, dict) else None
    return lowest is None or lowest <= 1


def offer_fields(value: Any, url: str = "", number: str | None = None) -> Fields:
    """Return price, currency, availability and codes of a product's offers.

    Of several ones, the offer that the page's address names is the page's, else the only one with
    the product's own *number*.
    """
    offers = offers_of(value)
    if not offers:
        return {}
    page_offer = matching_url(offers, url)
    if page_offer is None and number and len(offers) > 1:
        numbered = [offer for offer in offers if stated_text(offer.get("sku")) == number]
        page_offer = numbered[0] if len(numbered) == 1 else None
    ordered = [page_offer, *(o for o in offers if o is not page_offer)] if page_offer else offers
    priced = [(o, p) for o in ordered if (p := _price(o)).get("price") is not None]
    if (
        page_offer is None
        and "AggregateOffer" in types(ordered[0])
        and "lowPrice" not in ordered[0]
    ):
        priced.sort(key=lambda pair: pair[1]["price"])
    # Beside an offer with a price, an offer with the price 0 is a template's gap.
    offer, fields = next((pair for pair in priced if pair[1]["price"]), None) or (
        priced[0] if priced else (ordered[0], {})
    )
    stock = [stock_of(o) for o in (offer, *(o for o in ordered if o is not offer))]
    fields = dict(fields)
    fields["availability"] = next((s for s in stock if s), None)
    if page_offer is None and len(priced) > 1:
        best = best_stock(fields["availability"], stock)
        if best == "InStock" and stock[0] == "OutOfStock":
            # A variant that can be had may be reduced.
            lower = (o for o in priced if 0 < o[1]["price"] < fields["price"])
            fields = next((dict(p) for o, p in lower if stock_of(o) == "InStock"), fields)
        fields["availability"] = best
    if "currency" not in fields:
        codes = (_currency(o) for o in ordered)
        fields["currency"] = next((code for code in codes if code), None)
    if len(offers) == 1 or page_offer is not None:
        offer = page_offer or offer
        fields |= {name: stated_text(offer[name]) for name in ("sku", "mpn") if offer.get(name)}
        if code := gtin_of(offer):
            fields["gtin"] = code
    return {name: value for name, value in fields.items() if value is not None}


def stock_of(offer: Node) -> str | None:
    """Return an offer's availability."""
    value = first_value(offer, "availability", "Availability")
    if isinstance(value, dict):
        return availability(plain_text(value) or value.get("@id"))
    return availability(value if isinstance(value, bool) else plain_text(value))


def _currency(offer: Node) -> str | None:
    text = plain_text(first_value(offer, "priceCurrency", "currency"))
    return currency_of(text) if text else None


#: Kinds of a price specification: the price before, and prices that no customer pays.
_REGULAR_KINDS = frozenset({"ListPrice", "StrikethroughPrice", "MSRP", "SRP", "RegularPrice"})
_UNPAID_KINDS = frozenset({"MinimumAdvertisedPrice", "InvoicePrice"})
#: Types of price specifications for the costs of an order.
_CHARGES = frozenset({"DeliveryChargeSpecification", "PaymentChargeSpecification"})


def _kind(spec: Node) -> str:
    return str(plain_text(spec.get("priceType")) or "").rpartition("/")[2]


def _is_price(spec: Any) -> bool:
    """Whether a price specification is of one piece for everyone, and of no charge."""
    if not isinstance(spec, dict) or not _CHARGES.isdisjoint(types(spec)):
        return False
    return _kind(spec) not in _UNPAID_KINDS and _is_for_all(spec)


def _is_without_tax(spec: Node) -> bool:
    """Whether a price specification says that tax is added to its price."""
    return str(spec.get("valueAddedTaxIncluded", "")).lower() == "false"


def _price(offer: Node) -> Fields:
    """Return an offer's price, regular price and currency."""
    if "price" not in offer and "lowPrice" not in offer:
        offer = {_PROPERTIES.get(key.lower(), key): value for key, value in offer.items()}
    fields: Fields = {}
    stated = first_value(offer, "price", "lowPrice")
    raw = plain_text(stated)
    currency, specs = _currency(offer), []
    if "priceSpecification" in offer or isinstance(stated, dict):
        listed_specs = [*as_list(offer.get("priceSpecification")), stated]
        specs = [*filter(_is_price, listed_specs[:_MAX_OFFERS])]
        specs.sort(key=_is_without_tax)
        currency = currency or next(filter(None, map(_currency, specs)), None)
    value = number(raw, currency) if raw else None
    if value is not None and currency is None:
        currency = sure_currency(str(raw))
    reduced = None
    for spec in (s for s in specs if _currency(s) in {currency, None}):
        listed = number(plain_text(first_value(spec, "price", "minPrice")), currency)
        kind = _kind(spec)
        if kind in _REGULAR_KINDS:
            fields["regular_price"] = listed
        elif listed is not None and not spec.get("referenceQuantity"):
            value = listed if value is None else value
            reduced = listed if reduced is None else reduced
    regular = fields.get("regular_price")
    if reduced and regular and value == regular and reduced < regular:
        value = reduced  # the offer repeats its list price
    if regular is not None and (value is None or regular <= value):
        del fields["regular_price"]
        value = regular if value is None else value
    fields["price"] = value
    if currency:
        fields["currency"] = currency
    return fields
