"""The type of a product's fields in one source of a page, before the sources are merged."""

from __future__ import annotations

from typing import Any

#: Values by the field names of `crawler.items.Product`.
Fields = dict[str, Any]
