"""Currencies: their signs, words and codes, and the meaning of `$` and `kr` by country."""

from __future__ import annotations

import re

from crawler.extract import lazy_patterns

#: Signs that stand for one currency in all countries.
_SIGNS = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "₫": "VND",
    "฿": "THB", "₱": "PHP", "Php": "PHP", "₪": "ILS", "₴": "UAH", "₸": "KZT", "₦": "NGN", "₡": "CRC",
    "₲": "PYG", "₵": "GHS", "₼": "AZN", "₾": "GEL", "৳": "BDT", "៛": "KHR",
    "US$": "USD", "US $": "USD", "USD$": "USD", "U$S": "USD", "CA$": "CAD", "CDN$": "CAD",
    "CAD$": "CAD", "CAN$": "CAD", "A$": "AUD", "AU$": "AUD", "AU $": "AUD", "AUD$": "AUD",
    "NZ$": "NZD", "HK$": "HKD", "$US": "USD", "$CA": "CAD", "$AU": "AUD", "$NZ": "NZD", "$HK": "HKD",
    "$SG": "SGD", "$MX": "MXN", "$AR": "ARS", "$CL": "CLP", "$CO": "COP", "$U": "UYU", "NTD": "TWD",
    "S$": "SGD", "SG$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "MEX$": "MXN",
    "AR$": "ARS", "CLP$": "CLP", "COL$": "COP", "JP¥": "JPY", "CN¥": "CNY",
    "円": "JPY", "RMB": "CNY", "원": "KRW", "zł": "PLN", "ZŁ": "PLN", "Kč": "CZK", "KČ": "CZK",
    "Ft": "HUF", "лв": "BGN", "лв.": "BGN",
    "грн": "UAH", "тг": "KZT", "TL": "TRY", "Fr.": "CHF",
    "SFr.": "CHF", "SFr": "CHF", "RM": "MYR", "Rp": "IDR",
    "Rp.": "IDR", "S/": "PEN", "S/.": "PEN", "د.إ": "AED", "ر.س": "SAR",
    "Р": "RUB", "р": "RUB", "рублей": "RUB", "рубля": "RUB", "грн.": "UAH", "тенге": "KZT",
    "Eur": "EUR", "eur": "EUR", "EURO": "EUR", "euroa": "EUR", "eurot": "EUR", "евро": "EUR",
    "ευρώ": "EUR", "eiro": "EUR", "eurų": "EUR", "eura": "EUR", "korun": "CZK", "kronor": "SEK",
    "forint": "HUF", "гривен": "UAH", "euro": "EUR", "Euro": "EUR", "euros": "EUR", "Euros": "EUR", "KM": "BAM", "din.": "RSD",
    "Dhs": "AED", "Dhs.": "AED", "KSh": "KES", "Ksh": "KES", "KSH": "KES", "Ksh.": "KES", "đ": "VND", "₭": "LAK", "VNĐ": "VND",
    "din": "RSD", "дин": "RSD", "дин.": "RSD", "RSD.": "RSD", "ден": "MKD",
    "ден.": "MKD", "сум": "UZS", "so'm": "UZS", "сом": "KGS", "֏": "AMD", "₮": "MNT",
    "ლარი": "GEL", "GH₵": "GHS", "TSh": "TZS",
    "USh": "UGX", "KD": "KWD", "RD$": "DOP", "J$": "JMD",
    "TT$": "TTD", "N$": "NAD", "FJ$": "FJD", "BDS$": "BBD", "￡": "GBP", "บาท": "THB", "人民币": "CNY", 'ש"ח': "ILS",
    "ש״ח": "ILS", "שח": "ILS", "ريال": "SAR", "ر.ق": "QAR", "ر.ع": "OMR", "ر.ع.": "OMR", "د.ك": "KWD",
    "د.ب": "BHD", ".د.ب": "BHD", "د.أ": "JOD", "د.ا": "JOD", "د.ج": "DZD", "دج": "DZD",
    "د.ت": "TND", "د.م": "MAD", "د.م.": "MAD", "ج.م": "EGP", "ج.م.": "EGP", "جنيه": "EGP",
    "ل.ل": "LBP", "ل.س": "SYP", "د.ع": "IQD", "ریال": "IRR", "درهم": "AED",
    "Тг": "KZT", "тг.": "KZT", "Тг.": "KZT", "тнг": "KZT", "Грн": "UAH", "ГРН": "UAH", "Грн.": "UAH",
    "টাকা": "BDT", "Tk": "BDT", "Tk.": "BDT", "TK": "BDT", "रु": "INR", "रु.": "INR", "रुपये": "INR",
    "դր.": "AMD", "դրամ": "AMD", "драм": "AMD", "lekë": "ALL", "Lekë": "ALL", "сўм": "UZS",
    "лева": "BGN", "บ.": "THB", "динара": "RSD", "dinara": "RSD", "денари": "MKD",
    "تومان": "IRT", "تومن": "IRT", "Toman": "IRT", "toman": "IRT", "Tomans": "IRT",
}  # fmt: skip
#: Signs whose meaning depends on the country: the currency without a country, and the others.
_LOCAL = {
    "$": (
        "USD",
        {
            "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "TWD", "UYU", "DOP",
            "JMD", "TTD", "BBD", "NAD", "FJD",
        },
    ),
    "C$": ("CAD", {"NIO"}),
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
    "Руб": ("RUB", {"BYN"}),
    "Руб.": ("RUB", {"BYN"}),
    "РУБ": ("RUB", {"BYN"}),
    "РУБ.": ("RUB", {"BYN"}),
    "р.": ("RUB", {"BYN"}),
    "﷼": ("IRR", {"SAR", "QAR", "OMR", "YER"}),
    "DH": ("MAD", {"AED"}),
    "Dh": ("MAD", {"AED"}),
    "DT": ("TND", set()),
    "lei": ("RON", {"MDL"}),
    "Lei": ("RON", {"MDL"}),
    "LEI": ("RON", {"MDL"}),
    "Br": ("BYN", {"ETB"}),
    "FCFA": ("XOF", {"XAF"}),
    "CFA": ("XOF", {"XAF"}),
    "Bs.": ("BOB", {"VES"}),
}  # fmt: skip
CODES = frozenset(
    """
    AED ARS AUD AZN BAM BDT BGN BHD BRL CAD CHF CLP CNY COP CRC CZK DKK DOP DZD EGP EUR GBP GEL
    GHS HKD HRK HUF IDR ILS INR ISK JOD JPY KES KRW KWD KZT LKR MAD MXN MYR NGN NOK NZD OMR PEN
    PHP PKR PLN PYG QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU VND ZAR
    AMD BYN ETB GTQ HNL IQD IRR KGS KHR LBP MDL MKD MMK NIO NPR TZS UGX UZS XAF XOF
    """.split()  # noqa: SIM905  # a table of words reads best as one
)
#: Every currency in use. In a text only CODES are read, because "ALL 5" is no price in Albania.
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
#: Former or misspelt codes that shops still write.
_FORMER = {"RUR": "RUB", "UKR": "UAH", "NIS": "ILS", "STD": "STN", "ANG": "XCG"}
#: Code of the toman, in which Iran's shops count: 10 rials. ISO 4217 has a code for rials only.
TOMAN = "IRT"
_TOMANS = frozenset({"IRT", "IRHT", "TOMAN", "IRTT"})
_CURRENCY_OF_COUNTRY = {
    "us": "USD", "uk": "GBP", "gb": "GBP", "ca": "CAD", "au": "AUD", "nz": "NZD", "sg": "SGD",
    "hk": "HKD", "mx": "MXN", "ar": "ARS", "cl": "CLP", "co": "COP", "tw": "TWD", "jp": "JPY",
    "cn": "CNY", "se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK", "za": "ZAR", "in": "INR",
    "ch": "CHF", "br": "BRL", "pl": "PLN", "cz": "CZK", "hu": "HUF", "ro": "RON", "tr": "TRY",
    "by": "BYN", "pk": "PKR", "lk": "LKR", "np": "NPR", "mu": "MUR", "ae": "AED", "ma": "MAD",
    "ru": "RUB", "ua": "UAH", "il": "ILS", "th": "THB", "my": "MYR", "id": "IDR", "vn": "VND",
    "kr": "KRW", "bg": "EUR", "rs": "RSD", "pe": "PEN", "uy": "UYU", "ph": "PHP", "eg": "EGP",
    "sa": "SAR", "ng": "NGN", "ke": "KES", "kz": "KZT", "qa": "QAR", "bh": "BHD", "jo": "JOD",
    "dz": "DZD", "tn": "TND", "kw": "KWD", "lb": "LBP", "iq": "IQD", "gt": "GTQ", "hn": "HNL",
    "gh": "GHS", "de": "EUR", "at": "EUR", "fr": "EUR",
    "it": "EUR", "es": "EUR", "nl": "EUR", "be": "EUR", "fi": "EUR", "ie": "EUR", "pt": "EUR",
    "gr": "EUR", "sk": "EUR", "si": "EUR", "ee": "EUR", "lv": "EUR", "lt": "EUR", "lu": "EUR",
    "mt": "EUR", "cy": "EUR", "hr": "EUR",
}  # fmt: skip
_CURRENCY_OF_LANGUAGE = {
    "ja": "JPY", "zh": "CNY", "sv": "SEK", "nb": "NOK", "nn": "NOK", "no": "NOK", "da": "DKK",
    "is": "ISK", "be": "BYN", "cs": "CZK", "hu": "HUF", "pl": "PLN", "uk": "UAH", "he": "ILS",
    "th": "THB", "vi": "VND", "tr": "TRY", "ko": "KRW", "ro": "RON", "ka": "GEL", "hy": "AMD",
    "az": "AZN", "kk": "KZT", "id": "IDR", "mk": "MKD", "fi": "EUR", "nl": "EUR", "el": "EUR",
    "et": "EUR", "lv": "EUR", "lt": "EUR", "sk": "EUR", "sl": "EUR", "hr": "EUR",
}  # fmt: skip
#: Countries whose two letters are a word in many paths: read in a host or a language only.
_CURRENCY_OF_HOST = {
    "bd": "BDT", "om": "OMR", "ni": "NIO", "cr": "CRC", "pa": "PAB", "bo": "BOB", "py": "PYG",
    "do": "DOP", "tz": "TZS", "ug": "UGX", "md": "MDL", "al": "ALL", "am": "AMD", "uz": "UZS",
    "mk": "MKD", "ba": "BAM", "ge": "GEL", "az": "AZN", "sn": "XOF", "ci": "XOF", "cm": "XAF",
    "mm": "MMK", "ve": "VES", "et": "ETB", "bw": "BWP", "zm": "ZMW", "pg": "PGK", "na": "NAD",
    "fj": "FJD", "jm": "JMD", "tt": "TTD", "bb": "BBD", "mg": "MGA", "mv": "MVR", "rw": "RWF",
    "ao": "AOA", "mz": "MZN", "ye": "YER", "ly": "LYD", "bj": "XOF", "bf": "XOF", "ne": "XOF",
    "tg": "XOF", "td": "XAF", "cg": "XAF", "li": "CHF",
}  # fmt: skip
#: Domains of countries that shops of other countries use as well.
_OPEN_DOMAINS = frozenset({"co", "in", "is", "my", "id", "ch", "it", "at", "be", "es", "si", "ee"})
_COUNTRY_IN_URL = lazy_patterns.pattern(
    r"https?://(?:[a-z]{2}[-_])?([a-z]{2})\.|https?://[^/]+/(?:[a-z]{2}[-_])?([a-z]{2})(?:[/?]|$)"
    r"|https?://(?:www\.)?([a-z]{3,40}+)\.[^/]{2,20}/\3[-_]([a-z]{2})(?:[/?]|$)",
    re.I,
)
#: Signs, words and codes that name a currency beside an amount.
SPELLINGS = frozenset([*_SIGNS, *_LOCAL, *CODES])
#: Currencies of signs that stand for several.
_SHARED = frozenset(
    code
    for default, alternatives in _LOCAL.values()
    if alternatives
    for code in (default, *alternatives)
)


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
    >>> local_currency("a.com", "fr-ca", "https://a.com/fr/p")
    'CAD'
    """
    language, _, region = lang.partition("-")
    top_level = url_host.rpartition(".")[2]
    domain_currency = _CURRENCY_OF_COUNTRY.get(top_level) or _CURRENCY_OF_HOST.get(top_level)
    if domain_currency and top_level not in _OPEN_DOMAINS:
        return domain_currency
    match = _COUNTRY_IN_URL.match(url)
    code = (match[1] or match[2] or match[4]).lower() if match else ""
    # In "shop.ch/de" the path's two letters are the page's language and no country.
    url_currency = (
        _CURRENCY_OF_COUNTRY.get(code)
        if not (code == language and (domain_currency or region))
        else domain_currency
    )
    currency = (
        url_currency
        or _CURRENCY_OF_COUNTRY.get(region[:2])
        or _CURRENCY_OF_HOST.get(region[:2])
        or _CURRENCY_OF_LANGUAGE.get(language)
    )
    return currency or (domain_currency if top_level != "co" or language == "es" else None)


def currency_of_country(text: str) -> str | None:
    """Return the currency of the country that a text names, of countries that write `$` or `R`.

    >>> currency_of_country("Buy online in South Africa"), currency_of_country("Lamps")
    ('ZAR', None)
    """
    country = _COUNTRY_NAME(text.lower())
    return _BY_NAME[country[0]] if country else None


def currency_of_region(code: str) -> str | None:
    """Return the currency of a country by its two letters, in any case.

    >>> currency_of_region("AU"), currency_of_region("xx")
    ('AUD', None)
    """
    code = code.lower()
    return _CURRENCY_OF_COUNTRY.get(code) or _CURRENCY_OF_HOST.get(code)


#: Countries whose shops often have an international domain and write English or Spanish.
_BY_NAME = {
    "south africa": "ZAR", "nigeria": "NGN", "kenya": "KES", "ghana": "GHS", "egypt": "EGP",
    "singapore": "SGD", "malaysia": "MYR", "hong kong": "HKD", "philippines": "PHP", "india": "INR",
    "pakistan": "PKR", "bangladesh": "BDT", "sri lanka": "LKR", "nepal": "NPR", "australia": "AUD",
    "new zealand": "NZD", "canada": "CAD", "chile": "CLP", "colombia": "COP", "méxico": "MXN",
    "mexico": "MXN", "argentina": "ARS", "perú": "PEN", "uruguay": "UYU",
}  # fmt: skip
_COUNTRY_NAME = re.compile(rf"\b(?:{'|'.join(_BY_NAME)})\b").search


def language_of_script(text: str) -> str:
    """Return the language of a text in Chinese or Japanese script; '' for other scripts.

    >>> language_of_script("无线耳机"), language_of_script("ワイヤレスイヤホン 黒"), language_of_script("Lamp")
    ('zh', 'ja', '')
    """
    if text.isascii() or not _HAN(text):
        return ""
    return "ja" if _KANA(text) else "zh"


_HAN, _KANA = re.compile("[\u4e00-\u9fff]").search, re.compile("[\u3040-\u30ff]").search


def share_a_sign(currency: str | None, other_currency: str | None) -> bool:
    """Return whether two currencies are written with the same sign.

    >>> share_a_sign("USD", "CAD"), share_a_sign("USD", "EUR")
    (True, False)
    """
    return any(
        {currency, other_currency} <= {default, *alternatives}
        for default, alternatives in _LOCAL.values()
    )


def is_local(currency: str) -> bool:
    """Return whether a currency's sign stands for other currencies in other countries.

    >>> is_local("CAD"), is_local("EUR")
    (True, False)
    """
    return currency in _SHARED


def is_narrowed_by(sign: str, other_sign: str | None) -> bool:
    """Return whether a second sign says which country's currency an ambiguous sign stands for.

    >>> is_narrowed_by("¥", "元"), is_narrowed_by("¥", "円"), is_narrowed_by("$", None)
    (True, False, False)
    """
    return other_sign is not None and sign in _LOCAL and currency_of(other_sign) in _LOCAL[sign][1]


def currency_of(text: str, local: str | None = None) -> str | None:
    """Return the code of a currency's code, sign or word; *local* decides ambiguous signs.

    >>> currency_of("eur"), currency_of("US$"), currency_of("kr", "NOK"), currency_of("XYZ")
    ('EUR', 'USD', 'NOK', None)
    """
    text = text.strip()
    if text.upper() in CODES:
        return text.upper()
    if text in _LOCAL:
        default, alternatives = _LOCAL[text]
        return local if local in alternatives else default
    if text in _SIGNS:
        return _SIGNS[text]
    code = text.upper()
    if code in _TOMANS:
        return TOMAN
    return code if code in ISO_4217 else _FORMER.get(code)


def is_currency(text: str) -> bool:
    """Return whether a text is a currency's sign, word or code, as written beside amounts.

    >>> is_currency("TL"), is_currency("kr."), is_currency("kg")
    (True, True, False)
    """
    return text in SPELLINGS
