"""What is deployed: each overlay builds, is valid, and keeps the promises the fleet relies on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from scrapy_seine.metrics import DEMAND as DEMAND_METRIC
from settings import base
from tests.helpers import patient
from tests.unit.manifests import (
    OVERLAYS,
    ROOT,
    Object,
    built,
    containers,
    environment,
    of_kind,
    pod_of,
    pods,
    tool,
)

VERSION = "1.33"
#: KEDA's own fields, as its documentation has them; what is not in here is a slip of the pen.
KEDA = {
    "scaleTargetRef",
    "minReplicaCount",
    "maxReplicaCount",
    "pollingInterval",
    "cooldownPeriod",
    "fallback",
    "advanced",
    "triggers",
}
DEMAND = {"url", "format", "valueLocation", "targetValue", "activationTargetValue"}


overlays = pytest.mark.parametrize("overlay", OVERLAYS)


@overlays
def test_every_object_of_kubernetes_is_valid(overlay: str) -> None:
    for found in built(overlay):
        if not found["apiVersion"].startswith(("keda.sh", "monitoring.coreos.com")):
            kubernetes_validate.validate(found, VERSION, strict=True)


@overlays
def test_every_pod_meets_the_restricted_profile(overlay: str) -> None:
    for name, pod in pods(built(overlay)).items():
        spec = pod["spec"]
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True, name
        assert context["runAsUser"] > 0, name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        kinds = {kind for volume in spec.get("volumes", []) for kind in volume if kind != "name"}
        assert kinds <= {"secret", "configMap", "emptyDir", "projected"}, name
    for name, container in containers(built(overlay)):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, name
        assert context["readOnlyRootFilesystem"] is True, name
        assert context["capabilities"] == {"drop": ["ALL"]}, name


@overlays
def test_the_namespace_enforces_the_restricted_profile(overlay: str) -> None:
    (namespace,) = of_kind(built(overlay), "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@overlays
def test_every_container_has_requests_and_limits(overlay: str) -> None:
    for name, container in containers(built(overlay)):
        resources = container["resources"]
        for kind in ("requests", "limits"):
            assert set(resources[kind]) == {"cpu", "memory"}, name


@overlays
def test_every_image_names_its_version(overlay: str) -> None:
    for name, container in containers(built(overlay)):
        image, _, tag = container["image"].rpartition(":")
        assert image, f"{name}: {container['image']}"
        assert re.search(r"\d", tag), f"{name}: {tag}"
        assert "latest" not in tag, name


@overlays
def test_everything_that_runs_for_long_has_probes_and_a_disruption_budget(overlay: str) -> None:
    budgets = [
        b["spec"]["selector"]["matchLabels"] for b in of_kind(built(overlay), "PodDisruptionBudget")
    ]
    for workload in of_kind(built(overlay), "Deployment", "StatefulSet"):
        name, labels = workload["metadata"]["name"], pod_of(workload)["metadata"]["labels"]
        # A coordinator that hangs loses its lease to the one that stands by.
        probed = [] if name == "coordinator" else pod_of(workload)["spec"]["containers"]
        for container in probed:
            assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container), name
        assert any(budget.items() <= labels.items() for budget in budgets), name


@overlays
def test_no_probe_of_ours_restarts_a_worker_because_a_store_is_down(overlay: str) -> None:
    for name, container in containers(built(overlay)):
        if "httpGet" in container.get("livenessProbe", {}):
            if name.startswith("prometheus/"):
                continue
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz", name
            assert container["startupProbe"]["httpGet"]["path"] == "/healthz", name


@overlays
@pytest.mark.parametrize("name", ["worker", "browser"])
def test_a_worker_has_time_to_drain_and_to_write_what_it_holds(overlay: str, name: str) -> None:
    for workload in of_kind(built(overlay), "Deployment"):
        if workload["metadata"]["name"] == name:
            drain_s = float(environment(built(overlay), name)["SEINE_DRAIN_SECONDS"])
            assert pod_of(workload)["spec"]["terminationGracePeriodSeconds"] > 2 * drain_s


@overlays
@pytest.mark.parametrize("name", ["worker", "browser"])
def test_a_worker_that_starts_in_an_outage_is_not_restarted_before_it_gives_up(
    overlay: str, name: str
) -> None:
    for workload in of_kind(built(overlay), "Deployment"):
        if workload["metadata"]["name"] == name:
            given = environment(built(overlay), name).get("SEINE_OUTAGE_LIMIT")
            (container,) = pod_of(workload)["spec"]["containers"]
            probe = container["startupProbe"]
            allowed_s = probe["periodSeconds"] * probe["failureThreshold"]
            assert allowed_s > float(given or base.SEINE_OUTAGE_LIMIT)


@overlays
def test_workers_spread_over_nodes_and_their_number_is_the_autoscalers(overlay: str) -> None:
    worker = next(
        w for w in of_kind(built(overlay), "Deployment") if w["metadata"]["name"] == "worker"
    )
    assert "replicas" not in worker["spec"]
    keys = {c["topologyKey"] for c in pod_of(worker)["spec"]["topologySpreadConstraints"]}
    assert keys == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
    scalers = of_kind(built(overlay), "HorizontalPodAutoscaler", "ScaledObject")
    assert [scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers] == ["worker"]


@overlays
def test_no_secret_is_in_a_manifest_and_each_is_read_from_a_file(overlay: str) -> None:
    assert not of_kind(built(overlay), "Secret")
    for name, container in containers(built(overlay)):
        for entry in container.get("env", []):
            if re.search("URL|TOKEN|PASSWORD|PROXY", entry["name"]):
                assert entry["value"].startswith("/run/secrets/seine/"), name


@overlays
def test_every_pod_is_behind_the_default_deny(overlay: str) -> None:
    policies = {p["metadata"]["name"]: p["spec"] for p in of_kind(built(overlay), "NetworkPolicy")}
    denied = policies["default-deny"]
    assert set(denied) == {"podSelector", "policyTypes"}
    assert denied["policyTypes"] == ["Ingress", "Egress"]
    for name, pod in pods(built(overlay)).items():
        labels = pod["metadata"]["labels"]
        assert denied["podSelector"]["matchLabels"].items() <= labels.items(), name


def test_keda_asks_the_exporter_and_keeps_who_holds_leases() -> None:
    (found,) = of_kind(built("production-operator"), "ScaledObject")
    spec = found["spec"]
    assert set(spec) <= KEDA
    (trigger,) = spec["triggers"]
    assert trigger["type"] == "metrics-api"
    assert set(trigger["metadata"]) == DEMAND
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    assert spec["minReplicaCount"] == 0
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"


def test_the_adapter_serves_the_metric_that_the_autoscaler_asks_for() -> None:
    (hpa,) = of_kind(built("production"), "HorizontalPodAutoscaler")
    asked = hpa["spec"]["metrics"][0]["external"]["metric"]
    text = (ROOT / "k8s" / "components" / "hpa" / "adapter-rule.yaml").read_text()
    (rule,) = yaml.safe_load(text)["rules"]["external"]
    assert asked == {"name": rule["name"]["as"]} == {"name": DEMAND_METRIC.name}
    assert rule["metricsQuery"].startswith(f"max({DEMAND_METRIC.name}{{")


def test_both_autoscalers_answer_alike() -> None:
    """One switch: whichever is chosen, the fleet grows and shrinks at the same pace."""
    (hpa,), (keda,) = (
        of_kind(built("staging"), "HorizontalPodAutoscaler"),
        of_kind(built("production-operator"), "ScaledObject"),
    )
    scaled = keda["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert hpa["spec"]["behavior"] == scaled
    target = hpa["spec"]["metrics"][0]["external"]["target"]["averageValue"]
    assert target == keda["spec"]["triggers"][0]["metadata"]["targetValue"]


def test_the_dockerfile_has_no_complaints() -> None:
    done = subprocess.run(
        [tool("hadolint"), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "package", ["scrapy_seine", "crawler", "spiders", "pipelines", "middlewares", "settings"]
)
def test_the_image_holds_every_package(package: str) -> None:
    """The wheel holds the library alone; what it leaves out is copied beside it."""
    text = (ROOT / "Dockerfile").read_text()
    assert f"COPY {package} ./{package}\n" in text
    assert f"!{package}\n" in (ROOT / ".dockerignore").read_text()
    (copied,) = re.findall(r"cp -r (.+) scrapy\.cfg /app/", text)
    assert package == "scrapy_seine" or package in copied.split()


def test_the_image_runs_as_nobody_and_in_exec_form() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert lines.count("USER 10001:10001") == 2
    for line in lines:
        if line.startswith(("CMD", "ENTRYPOINT")):
            assert line.split(None, 1)[1].startswith("["), line


def compose() -> Object:
    loaded: Object = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def test_every_variable_of_compose_is_explained() -> None:
    used = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    given = re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert used == set(given) - {"COMPOSE_PROJECT_NAME"}


def test_a_stopped_container_has_time_to_drain() -> None:
    for name in ("worker", "browser"):
        assert compose()["services"][name]["stop_grace_period"] == "60s"
    assert "SEINE_DRAIN_SECONDS=20\n" in (ROOT / ".env.example").read_text()


def test_composes_redis_forgets_nothing() -> None:
    command = compose()["services"]["redis"]["command"]
    options = dict(zip(command[::2], command[1::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"


def test_composes_stores_ask_for_a_password_and_have_few_rights() -> None:
    services = compose()["services"]
    assert "--requirepass" in services["redis"]["entrypoint"][2]
    for name in ("redis", "postgres"):
        assert services[name]["cap_drop"] == ["ALL"], name
        assert services[name]["networks"] == ["stores"], name
    assert compose()["networks"]["stores"] == {"internal": True}


def test_prometheus_finds_the_services_that_compose_names() -> None:
    text = (ROOT / "k8s" / "monitoring" / "prometheus.yaml").read_text()
    for name in ("exporter", "worker", "browser"):
        assert name in compose()["services"]
        assert f'"{name}' in text


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="docker-compose is not installed")
def test_compose_itself_accepts_the_file(tmp_path: Path) -> None:
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    (tmp_path / "secrets").mkdir()
    for name in compose()["secrets"]:
        (tmp_path / "secrets" / name).touch()
    done = subprocess.run(
        ["docker-compose", "--env-file", str(ROOT / ".env.example"), "config", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 0, done.stderr
