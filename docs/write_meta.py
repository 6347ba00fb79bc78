"""Write docs/meta.md from the table of scrapy_seine/meta.py: `python docs/write_meta.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scrapy_seine.meta import ENGINE, SEED, SPIDER, TABLE, Key  # noqa: E402  # the path comes first

TARGET = ROOT / "docs" / "meta.md"
_HEAD = """\
# Request meta

Written from `scrapy_seine/meta.py` by `python docs/write_meta.py`; change it there.

Each request carries `request.meta`, a mapping. These are the keys that Seine and Scrapy read; all
others are yours: they travel with the request, if they are plain data (text, numbers, lists,
mappings, bytes, dates), and come back in `response.meta`.

A seed (`lpush catalog:start_urls '{"url": …, "meta": {…}}'`) may set the keys of the first table. A
seed that sets another one, or gives a key a value that it may not have, is rejected: it stands in
`{catalog:start_urls}:rejected` with the key, the value and what the value may be. The same is asked
of stored requests: one with a wrong value becomes a dead letter of the reason `decode`. Keys that
do not travel belong to one download, and are neither stored nor believed where they are.
"""
_TABLES = (
    (SEED, "What a seed may set", "A spider and the engine may set these as well."),
    (SPIDER, "What a spider may set", "A seed may not."),
    (ENGINE, "What only the engine sets", "They are shown here so that nobody takes their names."),
)


def _row(key: Key) -> str:
    travels = "yes" if key.travels else "no"
    return f"| `{key.name}` | {key.text} | {key.range.text} | {travels} |\n"


def render() -> str:
    """Lay the table out as Markdown."""
    parts = [_HEAD]
    for who, title, text in _TABLES:
        parts.append(
            f"\n## {title}\n\n{text}\n\n| key | meaning | values | travels |\n|---|---|---|---|\n"
        )
        parts += [_row(key) for key in TABLE.values() if key.set_by == who]
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(render(), "utf-8")
