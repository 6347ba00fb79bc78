"""The demo shop, where it is given a name; under a bare address the default parser reads it."""

from crawler.extract.site import Site


class DemoShop(Site):
    """Everything that a site file may say, as an example; the shop needs none of it."""

    name = "demo"
    domains = ("demo-shop.localhost",)
    seeds = ("http://demo-shop.localhost/",)
    product_pages = r"/p/\d+/"
    deny = (r"/admin/", r"/cart$")
    fields = {"breadcrumbs": "nav.breadcrumb a + a::text"}
