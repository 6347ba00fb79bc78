"""What each overlay promises a fleet, as rules: objects in, a line for each broken promise out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import kubernetes_validate
import yaml

from scrapy_seine.metrics import DEMAND as DEMAND_METRIC
from settings import base
from tests.unit.deploy.cluster_rules import selects
from tests.unit.deploy.manifests import (
    ROOT,
    Object,
    containers,
    environment,
    name_of,
    of_kind,
    pod_of,
    pods,
)

#: The oldest version that docs/deploying.md names, and one of today.
VERSIONS = ("1.28", "1.37")
#: Fields of the operators' objects, as their documentation has them; there is no schema here.
FOREIGN: Mapping[str, str] = {
    "ScaledObject": (
        "scaleTargetRef minReplicaCount maxReplicaCount pollingInterval cooldownPeriod fallback"
        " advanced triggers"
    ),
    "PodMonitor": "selector podMetricsEndpoints namespaceSelector jobLabel",
    "PrometheusRule": "groups",
}
_RULE = "alert expr for labels annotations"
_ENDPOINT = "port interval scrapeTimeout path"
_TRIGGER = "url format valueLocation targetValue activationTargetValue"
_WORKERS = ("worker", "browser")


def invalid_objects(objects: list[Object]) -> list[str]:
    """Each object is one that the API server takes."""
    found = []
    for one in objects:
        about = f"{one['kind']}/{name_of(one)}"
        if one["kind"] in FOREIGN:
            found += [f"{about}: {field}" for field in _others(one["spec"], FOREIGN[one["kind"]])]
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(one, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                found.append(f"{about}: {error.message}")
    for one in of_kind(objects, "PodMonitor"):
        ends = one["spec"]["podMetricsEndpoints"]
        found += [f"{name_of(one)}: {field}" for end in ends for field in _others(end, _ENDPOINT)]
    for one in of_kind(objects, "PrometheusRule"):
        rules = [rule for group in one["spec"]["groups"] for rule in group["rules"]]
        found += [f"{name_of(one)}: {field}" for rule in rules for field in _others(rule, _RULE)]
    return found


def _others(given: Object, fields: str) -> list[str]:
    return sorted(given.keys() - set(fields.split()))


def unrestricted_pods(objects: list[Object]) -> list[str]:
    """Each pod meets the restricted profile, and each namespace enforces it."""
    found = []
    for name, pod in pods(objects).items():
        spec = pod["spec"]
        context = spec["securityContext"]
        kinds = {kind for volume in spec.get("volumes", []) for kind in volume if kind != "name"}
        kept = {
            "runs as root": context["runAsNonRoot"] is True and context["runAsUser"] > 0,
            "no seccomp profile": context["seccompProfile"] == {"type": "RuntimeDefault"},
            "holds an account's token": spec["automountServiceAccountToken"] is False,
            "shares the host's": not {"hostNetwork", "hostPID", "hostIPC"} & set(spec),
            "mounts the host's": kinds <= {"secret", "configMap", "emptyDir", "projected"},
        }
        found += [f"{name}: {fault}" for fault, well in kept.items() if not well]
    right = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for about, container in containers(objects):
        context = container["securityContext"]
        found += [f"{about}: {key}" for key, value in right.items() if context.get(key) != value]
    for one in of_kind(objects, "Namespace"):
        if one["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
            found.append(f"{name_of(one)} takes any pod")
    return found


def unlimited_containers(objects: list[Object]) -> list[str]:
    """Each container has requests and limits."""
    return [
        f"{about}: {kind}"
        for about, container in containers(objects)
        for kind in ("requests", "limits")
        if set(container["resources"].get(kind, {})) != {"cpu", "memory"}
    ]


def unversioned_images(objects: list[Object]) -> list[str]:
    """Each image names its version."""
    found = []
    for about, container in containers(objects):
        image, _, tag = container["image"].rpartition(":")
        if not image or not re.search(r"\d", tag) or "latest" in tag:
            found.append(f"{about}: {container['image']}")
    return found


def unwatched_workloads(objects: list[Object]) -> list[str]:
    """What runs for long has probes and a disruption budget."""
    found = []
    budgets = [one["spec"]["selector"] for one in of_kind(objects, "PodDisruptionBudget")]
    for one in of_kind(objects, "Deployment", "StatefulSet"):
        name, labels = name_of(one), pod_of(one)["metadata"]["labels"]
        # A coordinator that hangs loses its lease to the one that stands by.
        probed = [] if name == "coordinator" else pod_of(one)["spec"]["containers"]
        for container in probed:
            lacking = {"startupProbe", "livenessProbe", "readinessProbe"} - set(container)
            found += [f"{name}: no {probe}" for probe in sorted(lacking)]
        if not any(selects(selector, labels) for selector in budgets):
            found.append(f"{name}: no disruption budget")
    return found


def restarts_in_an_outage(objects: list[Object]) -> list[str]:
    """No probe restarts a part of ours because a store is down, not even while it starts."""
    found = []
    for about, container in containers(objects):
        if "httpGet" in container.get("livenessProbe", {}) and not about.startswith("prometheus/"):
            found += [
                f"{about}: {probe} asks {container[probe]['httpGet']['path']}"
                for probe in ("livenessProbe", "startupProbe")
                if container[probe]["httpGet"]["path"] != "/healthz"
            ]
    for name in _WORKERS:
        if name not in pods(objects):
            continue
        (container,) = pods(objects)[name]["spec"]["containers"]
        probe = container["startupProbe"]
        allowed_s = probe["periodSeconds"] * probe["failureThreshold"]
        limit_s = environment(objects, name).get("SEINE_OUTAGE_LIMIT", base.SEINE_OUTAGE_LIMIT)
        if allowed_s <= float(limit_s):
            found.append(f"{name} is restarted after {allowed_s} s, and gives up after {limit_s} s")
    return found


def hidden_targets(objects: list[Object]) -> list[str]:
    """Who is not ready is scraped all the same: what is wrong with it is then a metric.

    The exporter is not ready while Redis is away, and is the one who tells of it.
    """
    scraped = [
        pod["metadata"]["labels"]
        for pod in pods(objects).values()
        if pod["metadata"].get("annotations", {}).get("prometheus.io/scrape") == "true"
    ]
    return [
        f"Service/{name_of(one)} hides who is not ready"
        for one in of_kind(objects, "Service")
        if any(selects({"matchLabels": one["spec"]["selector"]}, labels) for labels in scraped)
        and not one["spec"].get("publishNotReadyAddresses")
    ]


def huddled_workers(objects: list[Object]) -> list[str]:
    """Workers spread over nodes, and their number is the autoscaler's alone."""
    (worker,) = (one for one in of_kind(objects, "Deployment") if name_of(one) == "worker")
    spread = pod_of(worker)["spec"].get("topologySpreadConstraints", [])
    scalers = of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")
    found = []
    if "replicas" in worker["spec"]:
        found.append("each apply sets the number of workers")
    if {c["topologyKey"] for c in spread} != {
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
    }:
        found.append("workers may all be on one node")
    if [scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers] != ["worker"]:
        found.append(f"{len(scalers)} autoscalers of workers")
    return found


def shown_secrets(objects: list[Object]) -> list[str]:
    """No secret is in a manifest, and each URL, token and list is read from a file."""
    found = [f"Secret/{name_of(one)}" for one in of_kind(objects, "Secret")]
    for about, container in containers(objects):
        for entry in container.get("env", []):
            secret = re.search("URL|TOKEN|PASSWORD|PROXY|SECRET|KEY", entry["name"])
            if secret and not entry["value"].startswith("/run/secrets/"):
                found.append(f"{about}: {entry['name']}")
    for one in of_kind(objects, "ConfigMap"):
        found += [
            f"ConfigMap/{name_of(one)}: {key}"
            for key in one["data"]
            if re.search("_URL$|TOKEN|PASSWORD|SECRET$|ACCESS_KEY", key)
        ]
    return found


def undenied_pods(objects: list[Object]) -> list[str]:
    """Each pod is behind the default deny, in both directions."""
    (denied,) = (
        one["spec"] for one in of_kind(objects, "NetworkPolicy") if name_of(one) == "default-deny"
    )
    found = [f"{key} opens it" for key in set(denied) - {"podSelector", "policyTypes"}]
    if denied["policyTypes"] != ["Ingress", "Egress"]:
        found.append(f"it denies {denied['policyTypes']} alone")
    return found + [
        name
        for name, pod in pods(objects).items()
        if not selects(denied["podSelector"], pod["metadata"]["labels"])
    ]


def unknown_settings(objects: list[Object]) -> list[str]:
    """Each key of the fleet's ConfigMap and each variable is a setting that the project reads."""
    known = {name for name in vars(base) if name.isupper()}
    known |= {"SCRAPY_SETTINGS_MODULE", "SEINE_LOG_LEVEL", "PROXY_LIST"}
    known |= {f"{name}_FILE" for name in known}
    given = {
        key
        for one in of_kind(objects, "ConfigMap")
        if name_of(one).startswith("seine-") and "SCRAPY_SETTINGS_MODULE" in one["data"]
        for key in one["data"]
    }
    given |= {e["name"] for _, container in containers(objects) for e in container.get("env", [])}
    return sorted(given - known)


def changed_jobs(objects: list[Object]) -> list[str]:
    """A new setting changes no Job: the API server refuses each change of one."""
    hashed = {name_of(one) for one in of_kind(objects, "ConfigMap")}
    return [
        f"Job/{name_of(one)} changes with ConfigMap/{source['configMapRef']['name']}"
        for one in of_kind(objects, "Job")
        for container in pod_of(one)["spec"]["containers"]
        for source in container.get("envFrom", [])
        if source.get("configMapRef", {}).get("name") in hashed
    ]


def early_hooks(objects: list[Object]) -> list[str]:
    """Nothing that Argo CD makes before the rest needs any of the rest."""
    accounts = {name_of(one) for one in of_kind(objects, "ServiceAccount")}
    return [
        f"{one['kind']}/{name_of(one)} waits for its ServiceAccount"
        for one in of_kind(objects, "Job")
        if one["metadata"].get("annotations", {}).get("argocd.argoproj.io/hook") == "PreSync"
        and pod_of(one)["spec"].get("serviceAccountName") in accounts
    ]


def careless_scalers(objects: list[Object]) -> list[str]:
    """An autoscaler asks for the demand that the exporter has, and keeps who holds leases."""
    return [*_keda(of_kind(objects, "ScaledObject")), *_hpa(objects)]


def _keda(found: Iterable[Object]) -> Iterator[str]:
    for one in found:
        spec = one["spec"]
        (trigger,) = spec["triggers"]
        given = trigger["metadata"]
        if trigger["type"] != "metrics-api" or set(given) != set(_TRIGGER.split()):
            yield f"KEDA asks {trigger['type']} with {sorted(given)}"
        if not all(isinstance(value, str) for value in given.values()):
            yield "KEDA's values are texts"
        if not re.fullmatch(r"http://exporter\.[a-z-]+\.svc:9808/demand", given.get("url", "")):
            yield f"KEDA asks {given.get('url')}"
        if given.get("valueLocation") != "demand":
            yield "KEDA reads another value"
        if spec["minReplicaCount"] != 0:
            yield "KEDA never takes the last worker away"
        if spec["fallback"].get("behavior") != "currentReplicasIfHigher":
            yield "KEDA takes workers away where nothing answers"


def _hpa(objects: list[Object]) -> Iterator[str]:
    text = (ROOT / "k8s" / "components" / "hpa" / "adapter-rule.yaml").read_text()
    (rule,) = yaml.safe_load(text)["rules"]["external"]
    for one in of_kind(objects, "HorizontalPodAutoscaler"):
        asked = one["spec"]["metrics"][0]["external"]["metric"]
        if asked != {"name": rule["name"]["as"]} or asked != {"name": DEMAND_METRIC.name}:
            yield f"the autoscaler asks for {asked}"
    if not rule["metricsQuery"].startswith(f"max({DEMAND_METRIC.name}{{"):
        yield "the adapter serves another metric"


RULES = (
    invalid_objects,
    unrestricted_pods,
    unlimited_containers,
    unversioned_images,
    unwatched_workloads,
    restarts_in_an_outage,
    hidden_targets,
    huddled_workers,
    shown_secrets,
    undenied_pods,
    unknown_settings,
    changed_jobs,
    early_hooks,
    careless_scalers,
)
