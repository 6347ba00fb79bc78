"""Currencies as people write them: their signs, words and codes, and what `$` and `kr` mean where."""

from __future__ import annotations

import re

from crawler.extract import lazy_patterns

#: Signs that stand for one currency wherever they are written.
_SIGNS = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "₫": "VND",
    "฿": "THB", "₱": "PHP", "Php": "PHP", "₪": "ILS", "₴": "UAH", "₸": "KZT", "₦": "NGN", "₡": "CRC",
    "₲": "PYG", "₵": "GHS", "₼": "AZN", "₾": "GEL", "৳": "BDT", "៛": "KHR",
    "US$": "USD", "USD$": "USD", "U$S": "USD", "CA$": "CAD", "C$": "CAD", "CDN$": "CAD",
    "CAD$": "CAD", "A$": "AUD", "AU$": "AUD", "AUD$": "AUD", "NZ$": "NZD", "HK$": "HKD",
    "S$": "SGD", "SG$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "MEX$": "MXN",
    "AR$": "ARS", "CLP$": "CLP", "COL$": "COP", "JP¥": "JPY", "CN¥": "CNY",
    "円": "JPY", "RMB": "CNY", "원": "KRW", "zł": "PLN", "Kč": "CZK",
    "Ft": "HUF", "lei": "RON", "Lei": "RON", "лв": "BGN", "лв.": "BGN",
    "грн": "UAH", "тг": "KZT", "TL": "TRY", "Fr.": "CHF",
    "SFr.": "CHF", "SFr": "CHF", "RM": "MYR", "Rp": "IDR",
    "Rp.": "IDR", "S/": "PEN", "S/.": "PEN", "د.إ": "AED", "ر.س": "SAR",
    "Р": "RUB", "р": "RUB", "рублей": "RUB", "рубля": "RUB", "грн.": "UAH", "тенге": "KZT",
    "Eur": "EUR", "eur": "EUR", "EURO": "EUR", "euroa": "EUR", "eurot": "EUR", "евро": "EUR",
    "ευρώ": "EUR", "eiro": "EUR", "eurų": "EUR", "eura": "EUR", "korun": "CZK", "kronor": "SEK",
    "forint": "HUF", "гривен": "UAH", "euro": "EUR", "Euro": "EUR", "euros": "EUR", "KM": "BAM", "din.": "RSD",
    "Dhs": "AED", "Dhs.": "AED", "KSh": "KES", "đ": "VND", "₭": "LAK", "VNĐ": "VND",
    "LEI": "RON", "din": "RSD", "дин": "RSD", "дин.": "RSD", "RSD.": "RSD", "ден": "MKD",
    "ден.": "MKD", "сум": "UZS", "so'm": "UZS", "сом": "KGS", "֏": "AMD", "₮": "MNT",
    "ლარი": "GEL", "Br": "BYN", "GH₵": "GHS", "TSh": "TZS",
    "USh": "UGX", "FCFA": "XOF", "CFA": "XOF", "KD": "KWD", "RD$": "DOP", "J$": "JMD",
    "TT$": "TTD", "Bs.": "BOB", "￡": "GBP", "บาท": "THB", "人民币": "CNY", 'ש"ח': "ILS",
    "ש״ח": "ILS", "ريال": "SAR", "ر.ق": "QAR", "ر.ع": "OMR", "ر.ع.": "OMR", "د.ك": "KWD",
    "د.ب": "BHD", ".د.ب": "BHD", "د.أ": "JOD", "د.ا": "JOD", "د.ج": "DZD", "دج": "DZD",
    "د.ت": "TND", "د.م": "MAD", "د.م.": "MAD", "ج.م": "EGP", "ج.م.": "EGP", "جنيه": "EGP",
    "ل.ل": "LBP", "د.ع": "IQD", "ریال": "IRR", "درهم": "AED",
    "Тг": "KZT", "тг.": "KZT", "Тг.": "KZT", "тнг": "KZT", "Грн": "UAH", "ГРН": "UAH", "Грн.": "UAH",
    "টাকা": "BDT", "Tk": "BDT", "Tk.": "BDT", "TK": "BDT", "रु": "INR", "रु.": "INR", "रुपये": "INR",
    "դր.": "AMD", "դրամ": "AMD", "драм": "AMD", "lekë": "ALL", "Lekë": "ALL", "сўм": "UZS",
    "лева": "BGN", "บ.": "THB", "динара": "RSD", "dinara": "RSD", "денари": "MKD",
    "تومان": "IRT", "تومن": "IRT", "Toman": "IRT", "toman": "IRT", "Tomans": "IRT",
}  # fmt: skip
#: Signs whose meaning hangs on the country; the value is what they mean without one.
_LOCAL = {
    "$": ("USD", {"CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "TWD"}),
    "＄": ("USD", set()),
    "¥": ("JPY", {"CNY"}),
    "￥": ("JPY", {"CNY"}),
    "kr": ("SEK", {"NOK", "DKK", "ISK"}),
    "kr.": ("DKK", {"NOK", "SEK", "ISK"}),
    "Kr": ("SEK", {"NOK", "DKK", "ISK"}),
    "kroner": ("DKK", {"NOK"}),
    "krónur": ("ISK", set()),
    "Kr.": ("DKK", {"NOK", "SEK", "ISK"}),
    ":-": ("SEK", {"NOK", "DKK"}),
    "R": ("ZAR", set()),
    "元": ("CNY", {"TWD", "HKD"}),
    "Rs": ("INR", {"PKR", "LKR", "NPR", "MUR"}),
    "Rs.": ("INR", {"PKR", "LKR", "NPR", "MUR"}),
    "₨": ("INR", {"PKR", "LKR", "NPR", "MUR"}),
    "руб": ("RUB", {"BYN"}),
    "руб.": ("RUB", {"BYN"}),
    "р.": ("RUB", {"BYN"}),
    "DH": ("MAD", {"AED"}),
    "Dh": ("MAD", {"AED"}),
    "DT": ("TND", set()),
}
CODES = frozenset(
    """
    AED ARS AUD AZN BAM BDT BGN BHD BRL CAD CHF CLP CNY COP CRC CZK DKK DOP DZD EGP EUR GBP GEL
    GHS HKD HRK HUF IDR ILS INR ISK JOD JPY KES KRW KWD KZT LKR MAD MXN MYR NGN NOK NZD OMR PEN
    PHP PKR PLN PYG QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU VND ZAR
    AMD BYN ETB GTQ HNL IQD IRR KGS KHR LBP MDL MKD MMK NIO NPR TZS UGX UZS XAF XOF
    """.split()  # noqa: SIM905  # a table of words reads best as one
)
#: Every currency in use. A text names only those of CODES: "ALL 5" is no price in Albania.
ISO_4217 = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
    CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
    GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF
    KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN
    MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH
    UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """.split()  # noqa: SIM905  # a table of words reads best as one
)
#: Codes of the past, or misspelt, that shops still write.
_FORMER = {"RUR": "RUB", "UKR": "UAH", "NIS": "ILS", "STD": "STN"}
#: What Iran's shops count in, as they write its code: 10 rials, which alone have a code of the norm.
TOMAN = "IRT"
_TOMANS = frozenset({"IRT", "IRHT", "TOMAN", "IRTT"})
_COUNTRY = {
    "us": "USD", "uk": "GBP", "gb": "GBP", "ca": "CAD", "au": "AUD", "nz": "NZD", "sg": "SGD",
    "hk": "HKD", "mx": "MXN", "ar": "ARS", "cl": "CLP", "co": "COP", "tw": "TWD", "jp": "JPY",
    "cn": "CNY", "se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK", "za": "ZAR", "in": "INR",
    "ch": "CHF", "br": "BRL", "pl": "PLN", "cz": "CZK", "hu": "HUF", "ro": "RON", "tr": "TRY",
    "by": "BYN", "pk": "PKR", "lk": "LKR", "np": "NPR", "mu": "MUR", "ae": "AED", "ma": "MAD",
    "ru": "RUB", "ua": "UAH", "il": "ILS", "th": "THB", "my": "MYR", "id": "IDR", "vn": "VND",
    "kr": "KRW", "bg": "BGN", "rs": "RSD", "pe": "PEN", "uy": "UYU", "ph": "PHP", "eg": "EGP",
    "sa": "SAR", "ng": "NGN", "ke": "KES", "kz": "KZT", "qa": "QAR", "bh": "BHD", "jo": "JOD",
    "dz": "DZD", "tn": "TND", "kw": "KWD", "lb": "LBP", "iq": "IQD", "gt": "GTQ", "hn": "HNL",
    "gh": "GHS", "de": "EUR", "at": "EUR", "fr": "EUR",
    "it": "EUR", "es": "EUR", "nl": "EUR", "be": "EUR", "fi": "EUR", "ie": "EUR", "pt": "EUR",
    "gr": "EUR", "sk": "EUR", "si": "EUR", "ee": "EUR", "lv": "EUR", "lt": "EUR", "lu": "EUR",
    "mt": "EUR", "cy": "EUR", "hr": "EUR",
}  # fmt: skip
_LANGUAGE = {
    "ja": "JPY", "zh": "CNY", "sv": "SEK", "nb": "NOK", "nn": "NOK", "no": "NOK", "da": "DKK",
    "is": "ISK", "be": "BYN", "cs": "CZK", "hu": "HUF", "pl": "PLN", "uk": "UAH", "he": "ILS",
    "th": "THB", "vi": "VND", "tr": "TRY", "ko": "KRW", "ro": "RON", "ka": "GEL", "hy": "AMD",
    "az": "AZN", "kk": "KZT", "id": "IDR", "mk": "MKD",
}  # fmt: skip
#: Countries whose two letters are a word in many addresses: only a host or a language tells them.
_BY_HOST = {
    "bd": "BDT", "om": "OMR", "ni": "NIO", "cr": "CRC", "pa": "PAB", "bo": "BOB", "py": "PYG",
    "do": "DOP", "tz": "TZS", "ug": "UGX", "md": "MDL", "al": "ALL", "am": "AMD", "uz": "UZS",
    "mk": "MKD", "ba": "BAM", "ge": "GEL", "az": "AZN", "sn": "XOF", "ci": "XOF", "cm": "XAF",
    "mm": "MMK",
}  # fmt: skip
#: Domains of a country that anybody takes.
_ANYBODYS = frozenset({"co", "in", "is", "my", "id", "ch", "it", "at", "be", "es", "si", "ee"})
_PLACE = lazy_patterns.pattern(
    r"https?://(?:[a-z]{2}[-_])?([a-z]{2})\.|https?://[^/]+/(?:[a-z]{2}[-_])?([a-z]{2})(?:[/?]|$)"
    r"|https?://(?:www\.)?([a-z]{3,40}+)\.[^/]{2,20}/\3[-_]([a-z]{2})(?:[/?]|$)",
    re.I,
)
#: All that names a currency beside an amount.
SPELLINGS = frozenset([*_SIGNS, *_LOCAL, *CODES])


def local_currency(url_host: str, lang: str, url: str = "") -> str | None:
    """Guess a page's currency from its address and language, to read `$` and `kr`.

    >>> local_currency("shop.example.com.au", "en"), local_currency("a.com", "en-ca")
    ('AUD', 'CAD')
    >>> local_currency("a.com", "en", "https://a.com/en-nz/p/1"), local_currency("a.co", "en-us")
    ('NZD', 'USD')
    >>> local_currency("lamps.com", "es", "https://lamps.com/lamps-cl/p")
    'CLP'
    >>> local_currency("a.ch", "de", "https://a.ch/de/p"), local_currency("a.com", "de", "https://a.com/de/p")
    ('CHF', 'EUR')
    """
    language, _, region = lang.partition("-")
    top = url_host.rpartition(".")[2]
    own = _COUNTRY.get(top) or _BY_HOST.get(top)
    if own and top not in _ANYBODYS:
        return own
    place = _PLACE.match(url)
    code = (place[1] or place[2] or place[4]).lower() if place else ""
    # In "shop.ch/de" it is the page's language, and no country.
    told = _COUNTRY.get(code) if not (own and code == language) else own
    known = told or _COUNTRY.get(region[:2]) or _BY_HOST.get(region[:2]) or _LANGUAGE.get(language)
    return known or (own if top != "co" or language == "es" else None)


def currency_of_country(text: str) -> str | None:
    """The money of the country that a text names, where those that write `$` or `R` are read.

    >>> currency_of_country("Buy online in South Africa"), currency_of_country("Lamps")
    ('ZAR', None)
    """
    found = _COUNTRIES(text.lower())
    return _BY_NAME[found[0]] if found else None


def currency_of_region(code: str) -> str | None:
    """The money of a country by its two letters, in any case.

    >>> currency_of_region("AU"), currency_of_region("xx")
    ('AUD', None)
    """
    code = code.lower()
    return _COUNTRY.get(code) or _BY_HOST.get(code)


#: Countries whose shops often have an address and a language of the whole world.
_BY_NAME = {
    "south africa": "ZAR", "nigeria": "NGN", "kenya": "KES", "ghana": "GHS", "egypt": "EGP",
    "singapore": "SGD", "malaysia": "MYR", "hong kong": "HKD", "philippines": "PHP", "india": "INR",
    "pakistan": "PKR", "bangladesh": "BDT", "sri lanka": "LKR", "nepal": "NPR", "australia": "AUD",
    "new zealand": "NZD", "canada": "CAD", "chile": "CLP", "colombia": "COP", "méxico": "MXN",
    "mexico": "MXN", "argentina": "ARS", "perú": "PEN", "uruguay": "UYU",
}  # fmt: skip
_COUNTRIES = re.compile(rf"\b(?:{'|'.join(_BY_NAME)})\b").search


def tongue_of_script(text: str) -> str:
    """The language of a text by its script, where only few languages are written so; else ''.

    >>> tongue_of_script("无线耳机"), tongue_of_script("ワイヤレスイヤホン 黒"), tongue_of_script("Lamp")
    ('zh', 'ja', '')
    """
    if text.isascii() or not _HAN(text):
        return ""
    return "ja" if _KANA(text) else "zh"


_HAN, _KANA = re.compile("[\u4e00-\u9fff]").search, re.compile("[\u3040-\u30ff]").search


def alike(one: str | None, other: str | None) -> bool:
    """Whether two currencies are written with the same sign.

    >>> alike("USD", "CAD"), alike("USD", "EUR")
    (True, False)
    """
    return any({one, other} <= {usual, *others} for usual, others in _LOCAL.values())


def is_local(currency: str) -> bool:
    """Whether a currency is written with a sign that stands for others elsewhere.

    >>> is_local("CAD"), is_local("EUR")
    (True, False)
    """
    return any(others and currency in {usual, *others} for usual, others in _LOCAL.values())


def is_one_of(sign: str, other: str | None) -> bool:
    """Whether a sign that several countries have is told to be one of them by the sign behind.

    >>> is_one_of("¥", "元"), is_one_of("¥", "円"), is_one_of("$", None)
    (True, False, False)
    """
    return other is not None and sign in _LOCAL and currency_of(other) in _LOCAL[sign][1]


def currency_of(text: str, local: str | None = None) -> str | None:
    """Read a currency's code, sign or word.

    >>> currency_of("eur"), currency_of("US$"), currency_of("kr", "NOK"), currency_of("XYZ")
    ('EUR', 'USD', 'NOK', None)
    """
    text = text.strip()
    if text.upper() in CODES:
        return text.upper()
    if text in _LOCAL:
        usual, others = _LOCAL[text]
        return local if local in others else usual
    if text in _SIGNS:
        return _SIGNS[text]
    code = text.upper()
    if code in _TOMANS:
        return TOMAN
    return code if code in ISO_4217 else _FORMER.get(code)


def is_currency(text: str) -> bool:
    """Whether a text is a currency's sign, word or code as it stands beside amounts.

    >>> is_currency("TL"), is_currency("kr."), is_currency("kg")
    (True, True, False)
    """
    return text in SPELLINGS
