"""How a crawl and its workers end: complete, limited, asked for, or by a signal."""
