"""Patterns of the words by which templates name boxes in a class or id; lower case."""

OLD = (
    r"(?:^|[\s_-])(?:msrp|rrp|uvp|was|old|strike|striked|struck|crossed(?:-out)?|tachad[oa]|riscado|s?barrat[oa]|barr[eé]|prije|antes|avant|vorher|statt|eski|vechi|puvodn[ie]|coret|taiat|(?:durch)?gestrichen|list-?price|before-?price|strike-?through|_previous)(?=$|\s)|(?<!with-)(?<!has-)(?<!no-)(?:old|was|regular|(?<![a-z])list|origin(?:al)?|before|strike|crossed|compare|rrp|uvp|msrp|previous"
    r"|standard|instead|retail|secondary|stara|vecchi[oa]|ancien|barr[eé]|antes|anterior|oud[ea]?|ord|eski|vech[ie]|regi|puvodni)[-_]{0,2}(?:at[-_]?)?(?:product[-_]?)?(?:price|preis|prix|precio"
    r"|amount|cena|prezzo|pris\b|prijs|fiyat)|(?:price|preis|prix|precio|money|cena|prezzo|prijs|pret|preco)[-_]{0,2}(?:item[-_]{1,2})?(?:old|was|regular"
    r"|list|origin(?:al)?|before|compare|strike\w*|rrp|uvp|crossed|previous|retail|discounted-from|stara"
    r"|basis|vecchio|barre|standard|vechi|regi)\b"
    r"|line-?through|pseudo-?price|strikethrough|streichpreis|was-now__was"
)
ELSEWHERE = (
    r"related|up-?sell|cross-?sell|cross_?sell|crossell|recommend|also[-_]?(?:like"
    r"|bought|view)|similar|recent(?:ly)?[-_]?(?:view|prod)|mini[-_]?(?:cart|basket)|cart[-_]"
    r"(?:drawer|popup|summary|total)|(?<!product[-_])(?<!price[-_])(?<!buy[-_])sidebar|site-header|navbar|mega-?menu|newsletter|footer"
    r"|accessor|bundle(?![-_](?:product[-_])?price)|frequently|complementary|\breviews?\b|reviews?[-_](?:list|item|wrap|body)"
    r"|comment|testimonial|cookie|(?<!stock[-_])shipping(?![-_]?(?:time|status|info))|delivery-cost|versandkosten|(?<![a-z])unit[-_]price"
    r"|price[-_]per[-_]unit|(?<![a-z])base-?price(?![a-z])|grundpreis|instal+ment(?<!has-installment)(?<!has-instalment)|financ|voucher|loyalty"
    r"|tier-?price|graduated|staffel|bulk-?pric|cheaper|savings?\b|you-?save|discount-(?:badge|amount)"
)
#: ELSEWHERE and boxes of other products: none of them contains the page's own description.
OF_OTHERS = rf"{ELSEWHERE}|also|review|(?:^|[\s_-])(?:card|tile|carousel|slider)(?=$|[\s_-])"
CARD = (
    r"product[-_]?(?:card|tile|item|pod|thumb|miniature|box\b|grid|teaser|list)(?![-_]*(?:detail"
    r"|info|page|main|view|full|single))|card-?product|\bcard\b"
)
OFF = (
    r"(?:^|[\s_-])(?:comment-?list|reviews?[-_](?:list|items?|content|body|comments?)"
    r"|commentlist|mega-?menu|product-reviews?|customer-reviews)(?=\s|$)"
)
HIDDEN = (
    r"(?:^|\s)(?:hidden|hide|d-none|visually-hidden|sr-only|is-hidden|invisible|none"
    r"|screen-reader-text|visuallyhidden|u-hidden|js-hidden|display-?none|a-offscreen|hidden-xs-up|ng-hide"
    r"|is--hidden|(?:uk|el)-hidden|(?:am|layui|wa)-hide|no-?display|element-invisible)(?=\s|$)"
)
PRICE = (
    r"price|preis|prix|precio|prezzo|preco|preço|cena|\bamount\b|kaina|hinta|money|pris\b|prijs"
    r"|fiyat|cijena|\bpret\b|\bpret-|\bprecio|\btimi\b|\bhinnat?\b|\btsena|\bharga|\bgia\b"
)
NOW = (
    r"(?<!non[-_])(?:promo|sale|special|now|new|final|current|offer|deal|discounted|reduced|aktions?)[-_]{0,2}"
    r"(?:price|preis|prix|precio|cena|preco|prijs)|(?:price|preis|prix|precio|money|cena|preco|prijs)"
    r"[-_]{1,2}(?:item[-_]{1,2})?(?:promo|sale|special|now|new|final|current|offer|deal|reduced)"
)
STOCK = r"stock|availab|\bavail\b|disponib|lager|inventory|verfueg|delivery--?(?:info|status|time)"
BUTTON = r"add-?to-?(?:cart|bag|basket)|buy-?now|btn-cart|add_to_cart|addtocart"
LABEL = r"(?:^|[\s_-])label(?!-(?:hidden|inline|above))"
#: Words before the word for a maker in a class; behind a theme's own it means a colour or the shop.
BEFORE_MAKER = (
    r"(?:^|[\s_-]|product|div|urun)"
    r"(?<!navbar-)(?<!site-)(?<!bg-)(?<!btn-)(?<!text-)(?<!color-)"
)
FACT = (
    r"(?:^|\s)(?:js[-_])?(?:(?:product|item|variant|article|pdp|detail|info|meta)s?[-_]{1,2}){0,3}(?:sku|ean|gtin|mpn|upc|reference|ordernumber)"
    r"(?:[-_]?(?:value|code|number))?(?=\s|$)|"
    + BEFORE_MAKER
    + r"(?:brand|manufacturers(?=[-_]name)|manufacturer|vendor|hersteller|fabricante?|producent|mar[ck]a|marke|marque|merk|vyrobce|znacka|gyarto|producator|brend|proizvodjac)(?:[-_]?(?:name|link|title|value|text))?(?=\s|$)"
)
BADGE = r"badge|sticker|ribbon|flag\b|flags\b"
RATING = r"rating|stars?\b|star-"
#: Boxes named as the heading of a part of a page.
TITLE = r"(?:panel|section|sec|block|box|module|widget)[-_]{0,2}(?:heading|title|header|head|hd)\b"
#: Boxes named as a description: behind a word or its beginning, at a word's end.
DESCRIPTION = (
    r"(?:^|[\s_-]|product|item|goods|prod|tab|long|short|full)"
    r"(?<!status[_-])(?<!stock[_-])(?<!category[_-])(?<!shipping[_-])(?<!delivery[_-])(?<!price[_-])(?:excerpt|descr?(?:iption|ipcion|icao|izione|iptif)?"
    r"|beschreibung|omschrijving|beskrivelse|beskrivning|popis|opis|kuvaus|leiras|aciklama|mo-?ta)"
    r"(?:[-_]?(?:text|content|body|inner|tab|box|wrapper|wrap|panel|pane|html|long|short|full|product))?(?=$|\s)"
)
