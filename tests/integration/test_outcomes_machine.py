"""Any exception anywhere ends a lease by one stated outcome (I10), by random faults in real crawls.

A crawl has a few pages. For each page hypothesis draws where an exception leaves the code, and of
what class. Each page must end exactly once, and as a pure model says.

More examples: `SEINE_OUTCOME_EXAMPLES=300 pytest tests/integration/test_outcomes_machine.py`.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import started
from tests.helpers import patient
from tests.integration.ends.faults import ERRORS, PLACES, expected, is_followed

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("SEINE_OUTCOME_EXAMPLES", "2"))

fault = st.fixed_dictionaries(
    {
        "place": st.sampled_from(PLACES),
        "error": st.sampled_from(sorted(ERRORS)),
        "errback": st.sampled_from(["", "takes", "raises", "exits", "yields_late"]),
    }
)


@given(faults=st.lists(fault, min_size=20, max_size=40), way=st.sampled_from(["looks", "rewrites"]))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES < 10,
    suppress_health_check=list(HealthCheck),
)
def test_each_page_ends_once_and_as_the_model_says(
    redis_url: str, faults: list[dict[str, Any]], way: str
) -> None:
    command = [sys.executable, "-m", "tests.integration.ends.run", redis_url, uuid.uuid4().hex, way]
    asked = json.dumps(faults)
    run = started.run(
        command,
        cwd=ROOT,
        input=asked,
        capture_output=True,
        text=True,
        timeout=patient(120),
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    report = json.loads(run.stdout)
    assert report["undone"] == 0
    for number, drawn in enumerate(faults):
        ends = expected(drawn, way)
        assert report["ends"].get(str(number)) == ends, drawn
        followed = ["done"] if is_followed(drawn, ends) else None
        assert report["ends"].get(f"{number}.link") == followed, drawn
