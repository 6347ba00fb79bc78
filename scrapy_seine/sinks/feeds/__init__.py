"""Scrapy's feeds, without loss: each worker writes parts, and the worker that ends the run joins
them.

`scrapy crawl quotes -O quotes.csv` in two processes, of which one is killed:

    quotes.csv.parts/ab12-….csv         a part: what was written never changes
    quotes.csv.parts/ab12-….csv.rows    its sidecar: which rows are of which page and token
    quotes.csv                          all parts, joined by the worker that ends the run

1. `exporter` is Scrapy's extension. It gives each item to the `feed`s that accept it.
2. `feed` takes one hold on the item's page, and adds the item to the `part` at hand. The part is
   closed at a size, after a second, or as soon as the worker has nothing else to do, because the
   links of held pages are not crawled before.
3. `part_storage` writes the part and its sidecar: aside and renamed, or, where a format has
   nothing but rows (JSON lines), behind the part before, because a page that is alone waits for
   each file that is made. When both are durable (fsync; the upload's answer), the holds of the
   pages that ended in the part are released, and their leases end.
4. A killed worker leaves parts with some of a page's items, and the page is read again.
   `last_readings` keeps of each page the rows of its last complete reading, and `join` writes one
   file of them.
"""
