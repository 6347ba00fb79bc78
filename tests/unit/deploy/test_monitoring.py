"""Alerts, Grafana's panels and runbooks speak of metrics, pages and settings that exist."""

import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from scrapy_seine import metrics

ROOT = Path(__file__).parents[3]
MONITORING = ROOT / "k8s" / "monitoring"
RUNBOOKS = ROOT / "docs" / "runbooks"
RULES = yaml.safe_load((MONITORING / "alerts.yaml").read_text("utf-8"))["groups"][0]["rules"]
PANELS = [
    panel
    for panel in json.loads((MONITORING / "grafana-dashboard.json").read_text("utf-8"))["panels"]
    if panel["type"] != "row"
]
DECLARED = {spec.name for spec in metrics.SPECS} | {
    f"{spec.name}{end}"
    for spec in metrics.SPECS
    for end in ("_bucket", "_count", "_sum")
    if spec.kind == "histogram"
}
needs_promtool = pytest.mark.skipif(
    not shutil.which("promtool"), reason="promtool is not installed (Debian: prometheus)"
)


def expressions():
    for rule in RULES:
        yield pytest.param(rule["expr"], id=rule["alert"])
    for panel in PANELS:
        for target in panel["targets"]:
            yield pytest.param(target["expr"], id=panel["title"])


def promtool(*args):
    done = subprocess.run(
        ["promtool", *args], check=False, cwd=MONITORING, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_the_rules_are_rules():
    promtool("check", "rules", "alerts.yaml")
    promtool("check", "config", "prometheus.yaml")


@needs_promtool
def test_each_alert_fires_when_it_should():
    promtool("test", "rules", "alerts_test.yaml")


def test_each_alert_has_a_test():
    tests = yaml.safe_load((MONITORING / "alerts_test.yaml").read_text("utf-8"))["tests"]
    tested = {
        case["alertname"]
        for test in tests
        for case in test["alert_rule_test"]
        if case.get("exp_alerts")
    }

    assert tested == {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("expr", list(expressions()))
def test_an_expression_asks_for_metrics_that_exist(expr):
    names = set(re.findall(r"\bseine_\w+", expr))

    assert names
    assert names <= DECLARED


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_leads_to_its_runbook(rule):
    page = ROOT / rule["annotations"]["runbook"]

    assert page.is_file()
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["alert"] in (RUNBOOKS / "README.md").read_text("utf-8")


@pytest.mark.parametrize("page", sorted(RUNBOOKS.glob("*.md")), ids=lambda page: page.stem)
def test_a_runbook_names_what_there_is(page):
    text = page.read_text("utf-8")
    settings = vars(importlib.import_module("settings.base"))

    for link in re.findall(r"\]\(([\w-]+\.md)\)", text):
        assert (RUNBOOKS / link).is_file()
    for verb in re.findall(r"`scrapy (\w+)", text):
        assert (ROOT / "crawler" / "commands" / f"{verb}.py").is_file()
    for name in re.findall(r"`(SEINE_\w+)`", text):
        assert name in settings
    for name in re.findall(r"`(seine_\w+)`", text):
        assert name in DECLARED


def test_the_guides_name_the_metric_that_the_autoscaler_reads():
    """The runbook sent its reader to another metric, of which an autoscaler knows nothing."""
    hpa = yaml.safe_load((ROOT / "k8s/components/hpa/hpa.yaml").read_text("utf-8"))
    metric = hpa["spec"]["metrics"][0]["external"]["metric"]["name"]
    for page in ("docs/runbooks/workers.md", "docs/deploying.md", "docs/operations.md"):
        lines = re.split(r"\n|\. |; ", (ROOT / page).read_text("utf-8"))
        named = {
            name
            for line in lines
            if "utoscal" in line or "scale on" in line
            for name in re.findall(r"`(seine_\w+)`", line)
        }
        assert named == {metric}, page


def test_panels_have_places_of_their_own():
    seen = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & seen, panel["title"]
        seen |= cells


@pytest.mark.parametrize("spec", metrics.SPECS, ids=lambda spec: spec.name)
def test_each_metric_is_explained(spec):
    labels = " ".join(spec.labels) or "–"
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")

    assert f"| `{spec.name}` | {spec.kind} | {labels} | {spec.help} |" in text


def test_pictures_and_pages_that_are_linked_are_there():
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")

    for link in re.findall(r"\]\(([\w/.-]+)\)", text):
        assert (ROOT / "docs" / link).is_file()
