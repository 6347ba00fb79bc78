"""How a crawl and its workers end: complete, limited, closed by its code, or by a signal."""
