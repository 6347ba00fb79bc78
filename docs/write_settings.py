"""Write docs/settings.md from settings/base.py: `python docs/write_settings.py`.

Each setting's text is the comment above it, so that whoever changes one reads the other.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from settings.environment import VARIABLES, takes_variable  # noqa: E402

SOURCE = ROOT / "settings" / "base.py"
TARGET = ROOT / "docs" / "settings.md"
_SECTION = re.compile(r"# --- (.+?) -+$")
_HEAD = """\
# Settings

Written from `settings/base.py` by `python docs/write_settings.py`; change it there.

A setting is given, the strongest first: on the command line (`scrapy crawl catalog -s NAME=value`),
by Scrapyd (`-d setting=NAME=value`), by the environment variable named below (12-factor, and what a
pod's ConfigMap sets), by `settings/cluster.py` or `settings/laptop.py`, or by the default.
`SCRAPY_PROJECT=cluster` (with `scrapy.cfg`) or `SCRAPY_SETTINGS_MODULE=settings.cluster` picks the
fleet's settings.

A variable is text: `1`, `true`, `yes`, `on` and their opposites for yes and no, numbers, commas or
JSON for a list, JSON for a table; an empty one is none. On the command line a name that begins with
`SEINE_` or `FRONTIER_` and is no setting ends the start; in the environment it is a warning, or
with `SEINE_STRICT=1` the end. What Kubernetes sets for Services (`…_SERVICE_HOST`,
`…_PORT_8800_TCP`) is ignored. `scrapy doctor` says where each value that is not in a file comes
from, without secrets.

`REDIS_URL`, `DATABASE_URL`, `SEINE_DASHBOARD_TOKEN`, `SEINE_SECRET`, `SEINE_SECRET_PREVIOUS` and
`SEINE_WEBHOOK_SECRET` can be read from a file: set `REDIS_URL_FILE` to its path. `PROXY_LIST` is
proxies, or the path of a file of them.
"""


@attrs.frozen
class Setting:
    """One name of settings/base.py."""

    name: str
    section: str
    text: str
    """The comment above it; empty: it shares the one before."""
    default: str
    variable: str
    """Environment variable that sets it; empty: none."""


def read(source: str) -> Iterator[Setting]:
    """Yield the settings in their order."""
    lines = source.splitlines()
    section, last = "Project", 0
    for node in ast.parse(source).body:
        found = [m[1] for line in lines[last : node.lineno] if (m := _SECTION.match(line))]
        section = found[-1] if found else section
        last = node.end_lineno or node.lineno
        name, value = _assigned(node)
        if name.isupper() and value is not None:
            text = _comment(lines, node.lineno - 1)
            yield Setting(name, section, text, *_default(name, value))


def _assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _comment(lines: Sequence[str], at: int) -> str:
    found: list[str] = []
    while at and lines[at - 1].startswith("# ") and not _SECTION.match(lines[at - 1]):
        at -= 1
        found.insert(0, lines[at][2:])
    return " ".join(found)


def _default(name: str, value: ast.expr) -> tuple[str, str]:
    """Return the default as it is written, and the variable that replaces it."""
    written = ast.unparse(value).replace("'", '"')
    if written.startswith("environment.proxies"):
        return '""', f"PROXY_LIST` or `{name}"
    if written.startswith("environment.secret"):
        return '""', name
    is_table = isinstance(value, ast.Dict | ast.DictComp)
    kind: object = {} if is_table else None if written == "None" else ""
    return written, VARIABLES.get(name, name) if takes_variable(name, kind) else ""


def render(settings: Sequence[Setting]) -> str:
    """Lay the settings out as Markdown."""
    parts, section = [_HEAD], ""
    for setting in settings:
        if setting.section != section:
            section = setting.section
            parts.append(f"\n## {section}\n")
        parts.append(f"\n### `{setting.name}`\n\n{_body(setting)}\n")
    return "".join(parts)


def _body(setting: Setting) -> str:
    about = [setting.text] if setting.text else []
    value = setting.default
    if setting.default.startswith("{") and setting.default != "{}":
        value = "a table, see `settings/base.py`"
    else:
        value = f"`{value}`"
    about.append(
        f"In the file: {value}."
        + (f" Environment: `{setting.variable}`." if setting.variable else "")
    )
    return "\n\n".join(about)


def main() -> int:
    """Write the file; with --check only say whether it is current."""
    text = render(list(read(SOURCE.read_text("utf-8"))))
    if "--check" in sys.argv:
        return 0 if TARGET.exists() and TARGET.read_text("utf-8") == text else 1
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
