"""scrapeme.live: the practice WooCommerce shop that sells Pokémon."""

from crawler.extract.site import Site


class ScrapeMe(Site):
    """A plain WooCommerce shop; products stand right below /shop/, its pages below /shop/page/."""

    name = "scrapeme"
    domains = ("scrapeme.live",)
    seeds = ("https://scrapeme.live/shop/",)
    product_pages = r"/shop/(?!page/)[^/?]+/$"
    deny = (r"/product-tag/", r"\?orderby=")
