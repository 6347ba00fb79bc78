"""A command that does without a database asks the one that is set or runs, and starts none."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.stores import embedded
from crawler.stores.store_endpoints import running_database
from scrapy_seine.embedded.data_folder import layout


def test_the_address_that_is_set_is_asked() -> None:
    assert running_database({"DATABASE_URL": "postgresql://x/y"}) == "postgresql://x/y"


def test_no_embedded_server_is_started_or_looked_for_where_none_may_be(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    assert running_database({"SEINE_EMBEDDED": False, "SEINE_DATA_DIR": str(tmp_path)}) == ""
    assert running_database({"SEINE_EMBEDDED": True, "SEINE_DATA_DIR": str(folder)}) == ""
    assert not folder.exists()


@pytest.mark.parametrize("running", [True, False])
def test_the_embedded_server_is_asked_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: bool
) -> None:
    """`explain` said that nothing is known of a site whose products it had stored there."""
    monkeypatch.setattr(embedded.postgres, "running", lambda place: running)
    found = running_database({"SEINE_EMBEDDED": True, "SEINE_DATA_DIR": str(tmp_path)})
    assert found == (embedded.postgres.url(layout(tmp_path)) if running else "")
