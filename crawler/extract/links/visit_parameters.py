"""Parts of addresses that change no page: session parameters of an unknown name, and folders.

A shop with such a parameter is endless, because each page links to all others by new addresses. A
parameter is irrelevant if ten pages whose addresses differ only in its value showed the same
content, and none showed another; or if three pages each link to the shop under one other number
than their own, because the server has begun another visit. Then a page that was fetched under another value is not fetched
again. Product pages decide; for listings, the parameter must be irrelevant on listings too. A
product's folders count as one more parameter, because many shops show it below each of its
categories, and so do all of its parameters together: `?ref=box_3&pos=7`; and each folder that may be
a visit's number: `/(S(k2x4qj45))/lamps.aspx`. Pure; memory is bounded.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from time import monotonic

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.limited_dict import Newest
from scrapy_seine.printable import printable
from scrapy_seine.urls import domain_of_tidy, without_pairs

#: Pages with the same content after which their parameter is irrelevant.
IRRELEVANT_PAGES = 10
#: Canonical addresses without a parameter after which links to products lose it.
CANONICAL_PAGES = 5
#: The reason in logs and in the dashboard.
IRRELEVANT_REASON = (
    f"{IRRELEVANT_PAGES} of them showed the same, and none anything else, or each page links to the"
    " shop under another number"
)
#: Parameters of an address that are examined; parameters and pages that are remembered.
_MAX_NAMES, _MAX_PARAMETERS, _MAX_PAGES = 4, 500, 30_000
#: Parameters of a host that canonical addresses drop, at most.
_MAX_DROPPED = 100
#: Links of a page that are compared.
_MAX_LINKS = 400
#: Seconds for which a page is remembered; a worker that runs on fetches it again afterwards.
_REMEMBERED_S = 3600.0

#: Shopify serves a product below each collection that contains it. InSales' `/collection/a/product/b`
#: is not told by its address from shops that have no other one.
_COLLECTION = lazy_patterns.pattern(
    r"^(https?://[^/?#]+(?:/[a-z]{2}(?:-[a-z]{2})?)?)/collections/[^/?#]+(/products/[^/?#]+)", re.I
)
#: osCommerce, its forks, OpenCart, AbanteCart, Magento, Cafe24, Odoo and Demandware add the category from which the visitor came to a product's
#: address: patterns of the product's address and of the category's parameter.
_CATEGORY_PARAMETERS = (
    (
        lazy_patterns.pattern(r"[?&](?:products_id|info)=", re.I),
        lazy_patterns.pattern(r"(?<=[?&])cPath=[\w.]*&?"),
    ),
    (
        lazy_patterns.pattern(r"[?&](?:route|rt)=product/product&"),
        lazy_patterns.pattern(r"(?<=[?&])path=[\d_]*&?"),
    ),
    (
        lazy_patterns.pattern(r"/catalog/product/view/"),
        lazy_patterns.pattern(r"(?<=/)category/\d+/?$"),
    ),
    (
        lazy_patterns.pattern(r"/product/[^/?]+/\d+/category/"),
        lazy_patterns.pattern(r"(?<=/)category/\d+/display/\d+/?$"),
    ),
    (
        lazy_patterns.pattern(
            r"/shop/(?:product/)?(?!(?:page|list|index|category|products?|seite|pagina|str)-\d)"
            r"[\w%-]+-\d+\?"
        ),
        lazy_patterns.pattern(r"(?<=[?&])category=\d+(?:&|$)"),
    ),
    (
        lazy_patterns.pattern(r"\d[\w%-]{0,100}\.html\?(?:[^#]*&)?cgid=", re.I),
        lazy_patterns.pattern(r"(?<=[?&])cgid=[\w%-]*(?:&|$)"),
    ),
)
#: What addresses with such a category have.
_SIGNS_OF_CATEGORY = ("ath=", "/category/", "?category=", "cgid=")
#: Names under which an address's folders and its whole query are counted; no parameter has them.
FOLDERS, QUERY = "/", "?"
#: Products that are the same at two origins of a host after which links lead to the first one; one
#: is enough that the first one shows by https, because hardly any shop shows others by http.
_SAME_AT_ORIGINS = 3
#: The name under which such products are counted, and hosts that are remembered.
_ORIGIN, _MAX_HOSTS = ":", 1_000
#: Before the place of a folder that may be a visit's number; no parameter's name begins so.
_PLACE = "//"
#: Values and folders that may be a visit's number.
_VISIT = lazy_patterns.pattern(r"(?=\D*\d)[\w()=:~,]{8,80}")
#: Folders of an address that may be a visit's number.
_MAX_FOLDERS = 6
#: Pages whose links all carry one other number than their own, and addresses that it stands in.
_NEW_VISITS, _MIN_ADDRESSES = 3, 3
#: Characters of a last segment that may identify a product.
_MIN_SEGMENT = 6
#: Parts of an address before its path, where it is split at each slash.
_ORIGIN_PARTS = 3

#: Job, host, parameter name, and whether the pages are product pages.
_Key = tuple[str, str, str, bool]


@attrs.define(eq=False, repr=False)
class _Parameter:
    """Counts of one parameter."""

    same_contents: int = 0
    """Pages that showed the same content under another value."""
    differs: bool = False
    """Two of its values showed different content."""
    new_visits: int = 0
    """Pages whose links all carry one other number than the page's own."""

    @property
    def is_irrelevant(self) -> bool:
        return self.same_contents >= IRRELEVANT_PAGES and not self.differs


@attrs.define(eq=False, repr=False)
class Visits:
    """Finds, for each site, the parameters that do not change a page."""

    _parameters: OrderedDict[_Key, _Parameter] = attrs.Factory(OrderedDict)
    _pages: OrderedDict[int, tuple[int, int, float]] = attrs.Factory(OrderedDict)
    """By hash of parameter and address without it: hashes of value and content, monotonic s."""
    irrelevant_names: set[str] = attrs.Factory(set)
    """Names of the irrelevant parameters."""
    _dropped: Newest[Newest[set[str]]] = attrs.Factory(
        lambda: Newest(lambda: Newest(set, _MAX_DROPPED), _MAX_PARAMETERS)
    )
    """By host and parameter: canonical addresses that pages with the parameter name without it."""
    _first_origins: Newest[list[str]] = attrs.Factory(lambda: Newest(list, _MAX_HOSTS))
    """By job and host without `www.`: the origin of the first product."""
    _twins: dict[str, str] = attrs.Factory(dict)
    """By job and origin that shows the same products as the first one: the first one."""

    def note(
        self, job: str, url: str, products: Sequence[Hashable], links: Sequence[str]
    ) -> str | None:
        """Count a page's content; return the name of a parameter that became irrelevant.

        *products* are the identities of the page's products, *links* the URLs of its links.
        """
        news = None
        if products:
            self._note_origin(job, url, products)
        for host, name, value, page in _url_parameters(url):
            key = job, host, name, bool(products)
            parameter = self._parameter(key)
            if parameter.differs:
                continue
            if _begins_visit(host, name, value, links):
                news = self._note_new_visit(job, host, name) or news
            if products and name[:2] == _PLACE:  # images stand below the visit's number, too
                above = url.partition(f"/{value}/")[0]
                content = hash(repr(products).replace(f"{above}/{value}/", ""))
            elif products:
                content = hash(tuple(products))
            elif name in {FOLDERS, QUERY}:
                continue
            else:
                content = hash(frozenset(page_without(link, name) for link in links[:_MAX_LINKS]))
            was_irrelevant = parameter.is_irrelevant
            self._note(parameter, hash((key, page)), hash(value), content)
            if products and parameter.is_irrelevant and not was_irrelevant:
                self.irrelevant_names.add(name)
                news = name
        return news

    def _note_origin(self, job: str, url: str, products: Sequence[Hashable]) -> None:
        """Count a product that two origins of its host may show."""
        origin = url[: url.find("/", 8) + 1]
        host = origin.partition("://")[2].removeprefix("www.")
        origins = self._first_origins[f"{job} {host}"]
        if not origins:
            origins.append(origin)
        key = job, host, _ORIGIN, True
        parameter = self._parameter(key)
        if parameter.differs:
            return
        content = hash(repr(products).replace(origin, "/"))
        page = hash((key, url[len(origin) :]))
        is_shown_by_first = self._pages.get(page, ())[:2] == (hash(origins[0]), content)
        self._note(parameter, page, hash(origin), content)
        is_same = parameter.same_contents >= _SAME_AT_ORIGINS or (
            is_shown_by_first and origins[0] == f"https:{origin.partition(':')[2]}"
        )
        if is_same and origin != origins[0] and len(self._twins) < _MAX_HOSTS:
            self._twins[f"{job} {origin}"] = origins[0]

    def _note_new_visit(self, job: str, host: str, name: str) -> str | None:
        """Count a page whose links carry another number; return the name if it is a visit's now."""
        products, listings = (self._parameter((job, host, name, kind)) for kind in (True, False))
        listings.new_visits += 1
        if listings.new_visits != _NEW_VISITS or products.differs or listings.differs:
            return None
        products.same_contents = listings.same_contents = IRRELEVANT_PAGES
        self.irrelevant_names.add(name)
        return name

    def note_canonical(self, job: str, url: str, canonical: str) -> None:
        """Count that a product's page names its address without a parameter as its own.

        Its address in other folders counts alike. The addresses must differ without the parameter,
        because some shops name one for all pages.
        """
        host = domain_of_tidy(url)
        for name in _left_out(url, canonical):
            dropped = self._dropped[host][name]
            if len(dropped) < CANONICAL_PAGES:
                dropped.add(canonical)
            else:  # links to products lose it, so that no product shows that it is irrelevant
                self.irrelevant_names.add(name)
                parameter = self._parameter((job, host, name, True))
                parameter.same_contents = max(parameter.same_contents, IRRELEVANT_PAGES)
            self._remember(hash((job, canonical)), 0, 0)

    @property
    def has_names(self) -> bool:
        """Whether a parameter changes no page, or may change none."""
        return bool(self.irrelevant_names or self._dropped or self._twins)

    def at_first_origin(self, url: str, job: str) -> str:
        """Return a page's address at the first origin of its host, if its own shows the same."""
        if not self._twins:
            return url
        origin = url[: url.find("/", 8) + 1]
        first = self._twins.get(f"{job} {origin}")
        return url if first is None else first + url[len(origin) :]

    def settled(self, url: str, job: str = "") -> str:
        """Return a product's address at its first origin, without what its canonical one drops."""
        url = self.at_first_origin(url, job)
        if "?" not in url:
            return url
        for name, canonicals in self._dropped.get(domain_of_tidy(url), {}).items():
            if len(canonicals) >= CANONICAL_PAGES:
                url = page_without(url, name)
        return url

    def is_known(self, job: str, url: str) -> bool:
        """Whether a page was fetched already under another value of an irrelevant parameter."""
        earlier = self._pages.get(hash((job, url))) if self._dropped else None
        if earlier is not None and monotonic() - earlier[2] < _REMEMBERED_S:
            return True  # another page named this address as its own
        if not any(name in url or name[:2] == _PLACE for name in self.irrelevant_names):
            return False
        for host, name, value, page in _url_parameters(url):
            if not self._is_irrelevant((job, host, name, True)):
                continue
            if self._is_fetched((job, host, name, True), page, value):
                return True
            listings = job, host, name, False
            if self._is_irrelevant(listings) and self._is_fetched(listings, page, value):
                return True
        return False

    def _note(self, parameter: _Parameter, page: int, value: int, content: int) -> None:
        earlier = self._pages.get(page)
        self._remember(page, value, content)
        if earlier is not None and earlier[0] != value:
            parameter.same_contents += earlier[1] == content
            parameter.differs = earlier[1] != content

    def _remember(self, page: int, value: int, content: int) -> None:
        self._pages[page] = value, content, monotonic()
        self._pages.move_to_end(page)
        if len(self._pages) > _MAX_PAGES:
            self._pages.popitem(last=False)

    def _is_irrelevant(self, key: _Key) -> bool:
        parameter = self._parameters.get(key)
        return parameter is not None and parameter.is_irrelevant

    def _is_fetched(self, key: _Key, page: str, value: str) -> bool:
        """Whether a page was fetched lately under another value.

        Under its own one it is asked for again because its products were not stored.
        """
        value_before, _, since = self._pages.get(hash((key, page))) or (hash(value), 0, 0.0)
        return value_before != hash(value) and monotonic() - since < _REMEMBERED_S

    def _parameter(self, key: _Key) -> _Parameter:
        parameter = self._parameters.setdefault(key, _Parameter())
        self._parameters.move_to_end(key)
        if len(self._parameters) > _MAX_PARAMETERS:
            self._parameters.popitem(last=False)
        return parameter


def _left_out(url: str, canonical: str) -> list[str]:
    """Return the parameters that a canonical address leaves out; FOLDERS if it has other folders.

    >>> _left_out("https://a.example/new/lamp-ada", "https://a.example/lamps/lamp-ada")
    ['/']
    >>> _left_out("https://a.example/ada?size=7", "https://a.example/ada")
    ['size']
    """
    place, _, query = url.partition("?")
    if query:
        names = [pair.partition("=")[0] for pair in query.split("&")][:_MAX_NAMES]
        return [n for n in names if canonical in {place, page_without(url, n)}]
    segments = [address.rstrip("/").rpartition("/")[2] for address in (url, canonical)]
    is_same = segments[0] == segments[1] and _identifies(segments[0]) and canonical != url
    return [FOLDERS] if is_same and domain_of_tidy(canonical) == domain_of_tidy(url) else []


def _identifies(segment: str) -> bool:
    """Whether a last segment may identify a product in any folder.

    A number alone may be that of a category in one folder and of a product in another.
    """
    return len(segment) >= _MIN_SEGMENT and not segment.partition(".")[0].isdecimal()


def without_category(url: str) -> str:
    """Return a product's address without the folder or the parameter of its category.

    >>> without_category("https://a.example/product_info.php?info=p5_Lamp.html&cPath=3_4")
    'https://a.example/product_info.php?info=p5_Lamp.html'
    >>> without_category("https://a.example/index.php?cPath=3_4")
    'https://a.example/index.php?cPath=3_4'
    >>> without_category("https://a.example/collections/lamps/products/ada")
    'https://a.example/products/ada'
    >>> without_category("https://a.example/index.php?rt=product/product&path=36_40&product_id=7")
    'https://a.example/index.php?rt=product/product&product_id=7'
    >>> without_category("https://a.example/product/ada/12/category/24/display/1/")
    'https://a.example/product/ada/12/'
    >>> without_category("https://a.example/shop/ada-12?category=4"), without_category("https://a.example/ada/12.html?cgid=new")
    ('https://a.example/shop/ada-12', 'https://a.example/ada/12.html')
    >>> without_category("https://a.example/shop/page-2?category=4"), without_category("https://a.example/search.html?cgid=new")
    ('https://a.example/shop/page-2?category=4', 'https://a.example/search.html?cgid=new')
    """
    if "/collections/" in url:
        return _COLLECTION.sub(r"\1\2", url)
    if any(sign in url for sign in _SIGNS_OF_CATEGORY):
        for product, category in _CATEGORY_PARAMETERS:
            if product.search(url):
                return category.sub("", url).rstrip("?&")
    return url


def name_of_part(name: str) -> str:
    """Return what a log line calls a parameter, or a folder in a place.

    >>> name_of_part("visit"), name_of_part("//1")
    ('the parameter visit', 'folder 2 of their path')
    """
    if name[:2] == _PLACE:
        return f"folder {int(name[2:]) + 1} of their path"
    return f"the parameter {printable(name)}"


def may_have_visit(url: str) -> bool:
    """Whether an address has parameters, or a folder that may be a visit's number."""
    return "?" in url or next(_visit_folders(url), None) is not None


def _visit_folders(url: str) -> Iterator[tuple[int, str]]:
    """Yield place and text of the folders that may be a visit's number.

    >>> list(_visit_folders("https://a.example/shop.cgi/4f1bbcd880/lamp-ada.html"))
    [(1, '4f1bbcd880')]
    """
    segments = url.partition("?")[0].split("/", _ORIGIN_PARTS + _MAX_FOLDERS)[_ORIGIN_PARTS:-1]
    for place, segment in enumerate(segments):
        if _VISIT.fullmatch(segment):
            yield place, segment


def _begins_visit(host: str, name: str, value: str, links: Sequence[str]) -> bool:
    """Whether all links of a page carry one number, and not the page's own *value*."""
    if name in {FOLDERS, QUERY} or not _VISIT.fullmatch(value):
        return False
    values, pages = set(), set()
    for link in links[:_MAX_LINKS]:
        for link_host, link_name, link_value, page in _url_parameters(link):
            if link_name == name and link_host == host:
                values.add(link_value)
                pages.add(page)
        if len(values) > 1:
            return False
    other = next(iter(values), value)
    return other != value and len(pages) >= _MIN_ADDRESSES and bool(_VISIT.fullmatch(other))


def page_without(url: str, name: str) -> str:
    """Return an address without a parameter, or without the folder in its place.

    >>> page_without("https://a.example/p?id=7&visit=3f", "visit")
    'https://a.example/p?id=7'
    >>> page_without("https://a.example/4f1bbcd880/lamp", "//0")
    'https://a.example/lamp'
    """
    place, _, query = url.partition("?")
    if name[:2] == _PLACE:
        segments = place.split("/")
        index = _ORIGIN_PARTS + int(name[2:])
        if _VISIT.fullmatch("".join(segments[index : index + 1])):
            del segments[index]
        return f"{'/'.join(segments)}?{query}" if query else "/".join(segments)
    return without_pairs(url, lambda pair: pair.partition("=")[0] == name)


def _url_parameters(url: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield host, name, value and the address without it for folders, query and parameters."""
    place, _, query = url.partition("?")
    host, _, path = place.partition("://")[2].partition("/")
    folders, _, segment = path.rstrip("/").rpartition("/")
    if _identifies(segment):
        yield host, FOLDERS, folders, f"{segment}?{query}"
    for index, visit in _visit_folders(url):
        yield host, f"{_PLACE}{index}", visit, page_without(url, f"{_PLACE}{index}")
    if not query:
        return
    pairs = [pair.partition("=") for pair in islice(query.split("&"), _MAX_NAMES)]
    if len(pairs) > 1:
        yield host, QUERY, query, f"{place}?{'&'.join(name for name, _, _ in pairs)}"
    for name, _, value in pairs:
        if name and name[:2] != _PLACE:
            yield host, name, value, page_without(url, name)
