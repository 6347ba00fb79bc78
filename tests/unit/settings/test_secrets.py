"""Secrets reach the settings from files, so that no process list or manifest shows them."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

BASE = Path(__file__).parents[3] / "settings" / "base.py"
NAMES = (
    "REDIS_URL",
    "DATABASE_URL",
    "SEINE_DASHBOARD_TOKEN",
    "SEINE_SECRET",
    "SEINE_SECRET_PREVIOUS",
)
ALL = (*NAMES, "PROXY_LIST", "SEINE_PROXIES", "SEINE_PROXIES_PATH")


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ALL:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


def settings() -> dict[str, Any]:
    return runpy.run_path(str(BASE))


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_is_read_from_its_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("value with its line end\n")
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))
    assert settings()[name] == "value with its line end"


@pytest.mark.parametrize("name", NAMES)
def test_the_variable_itself_wins(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{name}_FILE", "/nowhere")
    monkeypatch.setenv(name, "given")
    assert settings()[name] == "given"


def test_a_file_that_cannot_be_read_ends_the_process_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REDIS_URL_FILE", "/nowhere/redis_url")
    words = "REDIS_URL_FILE=/nowhere/redis_url cannot be read: No such file"
    with pytest.raises(SystemExit, match=words):
        settings()


@pytest.mark.parametrize(
    ("held", "why"), [(b" \n", "is empty"), (b"\xff", "it is no text in UTF-8")]
)
def test_a_file_without_a_value_ends_the_process_instead_of_starting_embedded_servers(
    held: bytes, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "url").write_bytes(held)
    monkeypatch.setenv("REDIS_URL_FILE", str(tmp_path / "url"))
    with pytest.raises(SystemExit, match=why):
        settings()


@pytest.mark.parametrize(
    ("given", "lines", "path"),
    [
        ("/run/secrets/proxies", "", "/run/secrets/proxies"),
        ("./proxies.txt", "", "./proxies.txt"),
        ("http://10.0.0.1:8000", "http://10.0.0.1:8000", ""),
    ],
)
def test_a_proxy_list_is_a_path_or_the_proxies_themselves(
    given: str, lines: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_LIST", given)
    found = settings()
    assert (found["SEINE_PROXIES"], found["SEINE_PROXIES_PATH"]) == (lines, path)
