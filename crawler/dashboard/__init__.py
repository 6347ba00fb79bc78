"""The dashboard: server-rendered pages with data from `crawler.reads`, and a few actions.

All pages work without JavaScript and without internet. Text from crawled pages reaches HTML only
through `html.tag`, which escapes it.
"""
