"""Choose the currency of a price: the source's, or by the page's scripts, country or telephone."""

from __future__ import annotations

from crawler.extract.fields import Fields
from crawler.extract.money.currencies import is_local, share_a_sign
from crawler.extract.page.page import Page
from crawler.extract.scripts import state
from crawler.extract.visible.page_currency import (
    currency_of_address,
    currency_of_phones,
    currency_of_place,
    currency_of_terms,
    currency_of_tongue,
    spoken_currency,
)


def choose_currency(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Set the currency of a price without one, or with an ambiguous sign; remove an empty one."""
    currency = fields.get("currency")
    if "price" in fields and (
        currency is None or (sources["currency"] == "text" and is_local(currency))
    ):
        other_currency = state.stated_currency(page)
        if currency is None or (other_currency and share_a_sign(currency, other_currency)):
            # The meaning of a dollar sign was guessed; the page's scripts may name its currency.
            fields["currency"], sources["currency"] = other_currency, "state"
        elif currency_of_place(page) is None:
            other_currency = (
                currency_of_phones(page, currency)
                or currency_of_address(page, currency)
                or currency_of_terms(page, currency)
                or currency_of_tongue(page, currency)
            )
            fields["currency"] = other_currency or currency
    if "price" in fields and fields.get("currency") is None:
        # Shops that write bare numbers mean their country's currency, surely if other amounts have it.
        spoken = spoken_currency(page)
        currency = currency_of_place(page) or spoken
        fields["currency"], sources["currency"] = currency, "text" if currency == spoken else "url"
    if fields.get("currency") is None:
        fields.pop("currency", None)
        sources.pop("currency", None)
