"""Links that only sort, restyle or narrow a listing, by the parameters of their addresses."""

from __future__ import annotations

from collections import Counter

from crawler.extract.links.pagination import Address, is_display_parameter, is_page_parameter
from crawler.extract.words import finder, full_matcher
from scrapy_seine.urls import without_pairs

#: Parameters that choose the kind of page that a script shows, and those that hold its number.
_ROUTE_PARAMETER = full_matcher(r"mode|view|show|display|act|action|do|m")
_MODULE_PARAMETER = full_matcher(r"mod|modul|act|do|op|cmd|go|cl")
_NUMBER_PARAMETER = full_matcher(
    r"(?!sess|user|customer|lang|curr|ref|aff|filter|colou?r|size|attr)[a-z]{0,12}_?[a-z]{0,8}_?id"
)
_ORDER = finder(r"^(?:sort|order)")
_FILTER = finder(r"^(?:filter|colou?r|size|price|attr|brand|manufacturer)")
#: Names of parameters that identify a listing or a product.
is_identity = full_matcher(
    r"c|cat|cid|category|category_?id|categoryid|cpath|path|route|id|id_\w+|tag|collection|dept"
    r"|product_?id|products_id|pid|sku|item|item_?id|module|controller|option|task|mpath|group"
    r"|manufacturer_?id|manufacturers_id"
    r"|(?:product|prod|prd|goods|item|article|artikel|art|cate|category)_?(?:no|nr|num|code|cd|uid)"
    r"|produ[ck]to?|produit|prodotto|category_?name|catalog_?id|store_?id|[ac]nid"
    r"|letter|initiale?|iniziale|inicial|letra|lettre|lettera|liter[ay]|(?:anfangs)?buchstabe"
    r"|bokstav|bogstav|pismeno|(?:alku)?kirjain|bukva|harf|(?:kezdo)?betu"
    r"|_escaped_fragment_|goods_?id|article_?id|artikel|branduid|xcode|mcode|asin|isbn|ean",
)
#: Names of parameters that identify a product, also with a prefix: `p_prodid`.
_IDENTIFIES_PRODUCT = full_matcher(
    r"(?:[a-z]_)?(?:product|prod|prd|goods|item|article|artikel)_?(?:id|no|nr|num|code|cd|uid)"
    r"|sku|asin|isbn|ean"
)
#: What a listing's link to all of its products says instead of a number; the number that stands for it.
_ALL = full_matcher(r"all(?:e|es|er)?|tou[st]|toutes|tod[oa]s|tutt[ie]|-1")
ALL_PRODUCTS = 1_000_000
#: Digits of a number of products; numbers of one digit choose an order.
_MIN_SHOWN, _MAX_SHOWN = 2, 5
#: Paths of scripts that serve all pages of a shop: the parameters alone identify the page.
is_script_path = finder(r"\.(?:php|aspx?|jsp|cgi|cfm|do|pl)$")


def is_facet(target: Address, page_address: Address) -> bool:
    """Whether a link only sorts, restyles or narrows a listing that is crawled anyway."""
    if not target[2]:
        return False
    free_names = [name for name, _ in target[2] if not is_identity(name)]
    free_names = [name for name in free_names if not is_page_parameter(name)]
    page_names = {name for name, _ in page_address[2]}
    if _is_route(target, page_address) or _names_page(target, page_address):
        return False
    if any(is_display_parameter(name) and name not in page_names for name in free_names):
        return True
    if target[1] == page_address[1] and target[1] != "/" and not is_script_path(target[1]):
        if _shows_numbered_item(target, page_names):
            return False
        return any(name in free_names for name, _ in set(target[2]) - set(page_address[2]))
    if any(_IDENTIFIES_PRODUCT(name) for name, _ in target[2]) and target[1] != page_address[1]:
        return False
    if is_script_path(target[1]):
        if target[:2] == page_address[:2] and _restyles(set(target[2]), set(page_address[2])):
            return True
        return len([name for name in free_names if not _MODULE_PARAMETER(name)]) > 2
    return len(free_names) > 1


def without_display(url: str, target: Address, page_address: Address) -> str | None:
    """Return the address of another listing without its order, size and style.

    Return None for an order of the page's own listing, and for what else is a facet all the same.

    >>> page = ("https://a.example", "/", ())
    >>> without_display("https://a.example/x?sort=1&c=2", ("https://a.example", "/x", (("sort", "1"), ("c", "2"))), page)
    'https://a.example/x?c=2'
    """
    if target[1] in {"/", page_address[1]} or is_script_path(target[1]):
        return None
    kept = tuple(pair for pair in target[2] if not is_display_parameter(pair[0]))
    if is_facet((*target[:2], kept), page_address):
        return None
    return without_pairs(url, lambda pair: is_display_parameter(pair.partition("=")[0]))


def _restyles(target: set[tuple[str, str]], page: set[tuple[str, str]]) -> bool:
    """Whether parameters change another order or size alone of the page's own category."""
    changed = target - page
    return (
        bool(changed)
        and all(is_display_parameter(name) for name, _ in changed)
        and any(is_identity(name) for name, _ in target & page)
    )


def shown_at_once(target: Address, page_address: Address) -> int:
    """Return how many of a listing's products a link shows at once; 0 if it says nothing of that.

    >>> page = ("https://a.example", "/lamps", ())
    >>> [shown_at_once((*page[:2], ((name, value),)), page)
    ...  for name, value in (("limit", "96"), ("view", "all"), ("view", "grid"), ("sort", "3"))]
    [96, 1000000, 0, 0]
    """
    new_parameters = set(target[2]) - set(page_address[2])
    if target[:2] != page_address[:2] or len(new_parameters) != 1:
        return 0
    name, value = new_parameters.pop()
    if not is_display_parameter(name) or _ORDER(name):  # nopCommerce has ten orders
        return 0
    if _ALL(value):
        return ALL_PRODUCTS
    return int(value) if value.isdecimal() and _MIN_SHOWN <= len(value) <= _MAX_SHOWN else 0


def _shows_numbered_item(target: Address, page_names: set[str]) -> bool:
    """Whether a link drops the page's parameters and has one new one, a number: `?item=7`."""
    return (
        bool(page_names)
        and len(target[2]) == 1
        and target[2][0][0] not in page_names
        and target[2][0][1].isdigit()
        and not _FILTER(target[2][0][0])
    )


def narrows_further(path: str, page_path: str) -> bool:
    """Whether a link adds a part to those that the page's last segment joins: `/tag/oak+red`.

    >>> narrows_further("/tag/oak+red", "/tag/oak"), narrows_further("/tag/oak+2", "/tag/oak")
    (True, False)
    >>> narrows_further("/tag/oak+oak", "/tag/oak")
    True
    >>> narrows_further("/tag/oak+red", "/lamps/oak"), narrows_further("/oak+lamp", "/oak")
    (False, False)
    """
    folder, _, segment = path.rpartition("/")
    page_folder, _, page_segment = page_path.rpartition("/")
    if not folder or folder != page_folder:
        return False
    added = Counter(segment.split("+")) - Counter(page_segment.split("+"))
    return (
        added.total() == 1
        and segment.count("+") > page_segment.count("+")
        and not next(iter(added)).isdigit()
    )


def _names_page(target: Address, page_address: Address) -> bool:
    """Whether the only parameter of another script is the name of a page: `/index.php?show=chairs`."""
    if len(target[2]) != 1 or target[1] == page_address[1] or not is_script_path(target[1]):
        return False
    ((name, value),) = target[2]
    return bool(_ROUTE_PARAMETER(name)) and not value.isdigit()


def _is_route(target: Address, page_address: Address) -> bool:
    """Whether parameters of a shop's only script choose the page: `/?mode=cate&cbid=7&csid=0`.

    A parameter that elsewhere restyles a listing (`mode`) chooses the kind of page here, and a
    numeric one the page.
    """
    if target[1] != "/" and not is_script_path(target[1]):
        return False
    new_parameters = dict(set(target[2]) - set(page_address[2]))
    routes = [
        name for name in new_parameters if _ROUTE_PARAMETER(name) and new_parameters[name].isalpha()
    ]
    return len(routes) == 1 and any(
        _NUMBER_PARAMETER(name) and value.isdigit() for name, value in new_parameters.items()
    )
