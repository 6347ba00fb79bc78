"""The catalogue crawler: product catalogues by many workers, built on the library `scrapy_seine`.

`scrapy_seine/__init__.py` tells the life of a request. What the catalogue adds to it:

- `extract` reads products and links from a page; `cleaning` brings their values into one form.
- `storage` takes what the pipelines want stored; `stores` writes it to PostgreSQL and the archive.
- `access` tells refusals from content, and picks identities, proxies and the ladder's step.
- `catalogue` says what is crawled when: jobs, their coordinator, and who ends them.
- `reads`, `dashboard` and `commands` show and steer all of it; `demo` is a shop to crawl.

The Scrapy components are in the folders beside this one: `spiders`, `middlewares`, `pipelines`.
`settings/base.py` puts everything together, and explains each setting.
"""
