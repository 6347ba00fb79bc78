"""Makes the folder's pages fit a site: a link out of the folder becomes the path that it names.

On a forge `../settings/base.py` is a link to the file; a site holds the pages alone.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace links that leave the folder, called by MkDocs for each page."""
    folder = posixpath.dirname(page.file.src_uri)

    def replaced(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", folder, found[2]))
        if target.startswith("docs/"):
            return found[0]
        text = found[1].strip("`")
        return f"`{target}`" if text == target else f"{found[1]} (`{target}`)"

    return _LINK.sub(replaced, markdown)
