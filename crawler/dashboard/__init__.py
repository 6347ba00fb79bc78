"""The dashboard: server-rendered pages over what `crawler.reads` reads, and a few actions.

Everything works without script and without internet. Text from crawled pages reaches HTML only
through `html.tag`, which escapes it.
"""
