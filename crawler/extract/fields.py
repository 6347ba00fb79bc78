"""What one source of a page says about its product, before the sources are merged."""

from __future__ import annotations

from typing import Any

#: Values by the field names of `crawler.items.Product`.
Fields = dict[str, Any]
