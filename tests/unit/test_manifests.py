"""What is deployed: each overlay builds, is valid, and keeps the promises the fleet relies on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.helpers import patient

ROOT = Path(__file__).parents[2]
OVERLAYS = ("staging", "production")
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
PROMETHEUS = {"serverAddress", "query", "threshold", "activationThreshold"}
REDIS = {"listName", "listLength", "activationListLength"}
WORKLOADS = ("Deployment", "StatefulSet", "Job", "CronJob")
Object = dict[str, Any]


def tool(name: str) -> str:
    """A program that came with a package, or is installed."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found, f"{name} is missing: make lint installs it"
    return found


@cache
def built(overlay: str) -> tuple[Object, ...]:
    done = subprocess.run(
        [tool("kubectl"), "kustomize", str(ROOT / "k8s" / "overlays" / overlay)],
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(overlay: str, *kinds: str) -> list[Object]:
    return [found for found in built(overlay) if found["kind"] in kinds]


def pod_of(workload: Object) -> Object:
    """A workload's pod template."""
    spec = workload["spec"]
    if workload["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    template: Object = spec["template"]
    return template


def pods(overlay: str) -> Iterator[tuple[str, Object]]:
    for workload in of_kind(overlay, *WORKLOADS):
        yield f"{workload['kind']}/{workload['metadata']['name']}", pod_of(workload)


def containers(overlay: str) -> Iterator[tuple[str, Object]]:
    for name, pod in pods(overlay):
        for container in [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]:
            yield f"{name}/{container['name']}", container


def environment(overlay: str, workload: str) -> dict[str, str]:
    """What a worker's ConfigMap and its own lines set."""
    maps = {m["metadata"]["name"]: m["data"] for m in of_kind(overlay, "ConfigMap")}
    container = next(c for name, c in containers(overlay) if name.startswith(f"{workload}/"))
    values: dict[str, str] = {}
    for source in container["envFrom"]:
        values |= maps[source["configMapRef"]["name"]]
    return values | {entry["name"]: entry["value"] for entry in container["env"]}


overlays = pytest.mark.parametrize("overlay", OVERLAYS)


@overlays
def test_every_object_of_kubernetes_is_valid(overlay: str) -> None:
    for found in built(overlay):
        if "keda.sh" not in found["apiVersion"]:
            kubernetes_validate.validate(found, VERSION, strict=True)


@overlays
def test_every_pod_meets_the_restricted_profile(overlay: str) -> None:
    for name, pod in pods(overlay):
        spec = pod["spec"]
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True, name
        assert context["runAsUser"] > 0, name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        kinds = {kind for volume in spec.get("volumes", []) for kind in volume if kind != "name"}
        assert kinds <= {"secret", "configMap", "emptyDir"}, name
    for name, container in containers(overlay):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, name
        assert context["readOnlyRootFilesystem"] is True, name
        assert context["capabilities"] == {"drop": ["ALL"]}, name


@overlays
def test_the_namespace_enforces_the_restricted_profile(overlay: str) -> None:
    (namespace,) = of_kind(overlay, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@overlays
def test_every_container_has_requests_and_limits(overlay: str) -> None:
    for name, container in containers(overlay):
        resources = container["resources"]
        for kind in ("requests", "limits"):
            assert set(resources[kind]) == {"cpu", "memory"}, name


@overlays
def test_every_image_names_its_version(overlay: str) -> None:
    for name, container in containers(overlay):
        image, _, tag = container["image"].rpartition(":")
        assert image, f"{name}: {container['image']}"
        assert re.search(r"\d", tag), f"{name}: {tag}"
        assert "latest" not in tag, name


@overlays
def test_everything_that_runs_for_long_has_probes_and_a_disruption_budget(overlay: str) -> None:
    budgets = [
        b["spec"]["selector"]["matchLabels"] for b in of_kind(overlay, "PodDisruptionBudget")
    ]
    for workload in of_kind(overlay, "Deployment", "StatefulSet"):
        name, labels = workload["metadata"]["name"], pod_of(workload)["metadata"]["labels"]
        # A coordinator that hangs loses its lease to the one that stands by.
        probed = [] if name == "coordinator" else pod_of(workload)["spec"]["containers"]
        for container in probed:
            assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container), name
        assert any(budget.items() <= labels.items() for budget in budgets), name


@overlays
def test_no_probe_of_ours_restarts_a_worker_because_a_store_is_down(overlay: str) -> None:
    for name, container in containers(overlay):
        if "httpGet" in container.get("livenessProbe", {}):
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz", name
            assert container["startupProbe"]["httpGet"]["path"] == "/healthz", name


@overlays
@pytest.mark.parametrize("name", ["worker", "browser"])
def test_a_worker_has_time_to_drain_and_to_write_what_it_holds(overlay: str, name: str) -> None:
    for workload in of_kind(overlay, "Deployment"):
        if workload["metadata"]["name"] == name:
            drain_s = float(environment(overlay, f"Deployment/{name}")["SEINE_DRAIN_SECONDS"])
            assert pod_of(workload)["spec"]["terminationGracePeriodSeconds"] > 2 * drain_s


@overlays
def test_workers_spread_over_nodes_and_their_number_is_the_autoscalers(overlay: str) -> None:
    worker = next(w for w in of_kind(overlay, "Deployment") if w["metadata"]["name"] == "worker")
    assert "replicas" not in worker["spec"]
    keys = {c["topologyKey"] for c in pod_of(worker)["spec"]["topologySpreadConstraints"]}
    assert keys == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
    scalers = of_kind(overlay, "HorizontalPodAutoscaler", "ScaledObject")
    assert [scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers] == ["worker"]


@overlays
def test_no_secret_is_in_a_manifest_and_each_is_read_from_a_file(overlay: str) -> None:
    assert not of_kind(overlay, "Secret")
    for name, container in containers(overlay):
        for entry in container.get("env", []):
            if re.search("URL|TOKEN|PASSWORD|PROXY", entry["name"]):
                assert entry["value"].startswith("/run/secrets/seine/"), name


@overlays
def test_every_pod_is_behind_the_default_deny(overlay: str) -> None:
    policies = {p["metadata"]["name"]: p["spec"] for p in of_kind(overlay, "NetworkPolicy")}
    denied = policies["default-deny"]
    assert set(denied) == {"podSelector", "policyTypes"}
    assert denied["policyTypes"] == ["Ingress", "Egress"]
    for name, pod in pods(overlay):
        labels = pod["metadata"]["labels"]
        assert denied["podSelector"]["matchLabels"].items() <= labels.items(), name


@overlays
def test_no_page_can_send_a_worker_to_a_private_address(overlay: str) -> None:
    policies = {p["metadata"]["name"]: p["spec"] for p in of_kind(overlay, "NetworkPolicy")}
    blocks = [to["ipBlock"] for to in policies["workers-to-the-internet"]["egress"][0]["to"]]
    kept = {block["cidr"]: set(block["except"]) for block in blocks}
    assert {"10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"} <= kept["0.0.0.0/0"]
    assert {"fc00::/7", "fe80::/10"} <= kept["::/0"]


def test_keda_reads_the_metrics_that_the_fleet_has() -> None:
    (found,) = of_kind("production", "ScaledObject")
    spec = found["spec"]
    assert set(spec) <= KEDA
    prometheus, redis = spec["triggers"]
    assert (prometheus["type"], redis["type"]) == ("prometheus", "redis")
    assert set(prometheus["metadata"]) == PROMETHEUS
    assert set(redis["metadata"]) == REDIS
    assert all(isinstance(v, str) for t in spec["triggers"] for v in t["metadata"].values())
    assert spec["minReplicaCount"] == 0
    source = (ROOT / "scrapy_seine" / "metrics.py").read_text()
    for name in re.findall(r"seine_\w+", prometheus["metadata"]["query"]):
        assert f'"{name}"' in source


def test_both_autoscalers_answer_alike() -> None:
    """One switch: whichever is chosen, the fleet grows and shrinks at the same pace."""
    (hpa,), (keda,) = (
        of_kind("staging", "HorizontalPodAutoscaler"),
        of_kind("production", "ScaledObject"),
    )
    scaled = keda["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert hpa["spec"]["behavior"] == scaled
    target = hpa["spec"]["metrics"][0]["external"]["target"]["averageValue"]
    assert target == keda["spec"]["triggers"][0]["metadata"]["threshold"]


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
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"


def test_prometheus_finds_the_services_that_compose_names() -> None:
    text = (ROOT / "k8s" / "monitoring" / "prometheus.yaml").read_text()
    for name in ("exporter", "worker"):
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
