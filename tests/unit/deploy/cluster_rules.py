"""A control plane of paper: what Kubernetes would make of the objects, and what is wrong with them.

Each rule takes the objects of one overlay and returns a line for each fault; none means that a
cluster would do what was meant. Selectors and network policies are read as the API's documentation
says: an empty selector selects all, `matchLabels` and `matchExpressions` must both hold, policies
only add, and a pod that no policy of a direction selects is open in that direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any

import attrs

from tests.unit.deploy.manifests import (
    Object,
    containers,
    environment,
    name_of,
    of_kind,
    pod_of,
    pods,
)

Labels = Mapping[str, str]
Port = tuple[int, str]
"""Number and protocol."""
#: API groups that every cluster serves.
_CORE = re.compile(r"^(v1|[a-z]+/v\d\w*|[a-z.]+\.k8s\.io/v\d\w*)$")
#: Whom each selector means; a name that is not in here means the workload of its own name.
MEANT: Mapping[str, frozenset[str]] = {
    "PodMonitor/seine-workers": frozenset({"worker", "browser"}),
    "PodMonitor/seine-fleet": frozenset({"exporter"}),
}
_SELECTING = ("Service", "PodDisruptionBudget", "PodMonitor", "Deployment", "StatefulSet")
#: What a drain takes beside the two halves of SEINE_DRAIN_SECONDS, s.
_END_S = 5.0


def selects(selector: Object | None, labels: Labels) -> bool:
    """Whether a label selector selects a pod or namespace with *labels*."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(_holds(part, labels) for part in selector.get("matchExpressions", []))


def _holds(part: Object, labels: Labels) -> bool:
    given, values = labels.get(part["key"]), part.get("values", [])
    holds = {
        "In": given in values,
        "NotIn": given not in values,
        "Exists": given is not None,
        "DoesNotExist": given is None,
    }
    return holds[part["operator"]]


def labels_of(objects: list[Object]) -> dict[str, Labels]:
    """Labels of each workload's pods."""
    return {name: pod["metadata"]["labels"] for name, pod in pods(objects).items()}


def wrong_selectors(objects: list[Object]) -> list[str]:
    """Each selector matches exactly the pods that it means."""
    found, labelled = [], labels_of(objects)
    for about, selector, meant in _selectors(objects):
        matched = {name for name, labels in labelled.items() if selects(selector, labels)}
        if matched != meant & set(labelled) or not matched:
            found.append(f"{about} selects {sorted(matched)}, meant are {sorted(meant)}")
    return found


def _selectors(objects: list[Object]) -> Iterator[tuple[str, Object, frozenset[str]]]:
    for one in of_kind(objects, *_SELECTING):
        about, selector = f"{one['kind']}/{name_of(one)}", one["spec"]["selector"]
        if one["kind"] == "Service":
            selector = {"matchLabels": selector}
        meant = MEANT.get(about, frozenset({name_of(one)}))
        yield about, selector, meant
        if one["kind"] == "Deployment":
            for spread in pod_of(one)["spec"].get("topologySpreadConstraints", []):
                yield f"{about} spread", spread["labelSelector"], meant


def missing_ports(objects: list[Object]) -> list[str]:
    """Each port of a Service, a probe or a PodMonitor exists in a container of each pod meant."""
    found = []
    for one in of_kind(objects, "Service", "PodMonitor"):
        monitor = one["kind"] == "PodMonitor"
        selector = one["spec"]["selector"] if monitor else {"matchLabels": one["spec"]["selector"]}
        asked = (
            [end["port"] for end in one["spec"]["podMetricsEndpoints"]]
            if monitor
            else [port.get("targetPort", port["port"]) for port in one["spec"]["ports"]]
        )
        for name, pod in pods(objects).items():
            if selects(selector, pod["metadata"]["labels"]):
                have = {port for c in pod["spec"]["containers"] for port in _ports(c)}
                found += [
                    f"{one['kind']}/{name_of(one)}: {name} has no port {port}"
                    for port in asked
                    if port not in have
                ]
    for about, container in containers(objects):
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            for way in ("httpGet", "tcpSocket"):
                port = container.get(probe, {}).get(way, {}).get("port")
                if port is not None and port not in _ports(container):
                    found.append(f"{about}: {probe} asks port {port}")
    return found


def _ports(container: Object) -> set[Any]:
    ports = container.get("ports", [])
    return {port["containerPort"] for port in ports} | {port["name"] for port in ports}


def missing_references(objects: list[Object], secrets: Mapping[str, set[str]]) -> list[str]:
    """Each ConfigMap, key, volume, account and scaled workload that is named exists."""
    maps = {name_of(one): set(one["data"]) for one in of_kind(objects, "ConfigMap")}
    accounts = {name_of(one) for one in of_kind(objects, "ServiceAccount")}
    found = []
    for name, pod in pods(objects).items():
        spec = pod["spec"]
        if spec["serviceAccountName"] not in accounts:
            found.append(f"{name}: no ServiceAccount {spec['serviceAccountName']}")
        for kind, source, keys in _sources(spec):
            there = (maps if kind == "ConfigMap" else secrets).get(source)
            lacking = sorted(keys - (there or set()))
            if there is None or lacking:
                found.append(f"{name}: {kind} {source} lacks {lacking or 'everything'}")
    found += _missing_volumes(objects)
    workloads = {(one["kind"], name_of(one)) for one in of_kind(objects, "Deployment")}
    for one in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject"):
        target = one["spec"]["scaleTargetRef"]
        if (target.get("kind", "Deployment"), target["name"]) not in workloads:
            found.append(f"{one['kind']}/{name_of(one)}: no {target['name']}")
    return found


def _sources(spec: Object) -> Iterator[tuple[str, str, set[str]]]:
    """Kind, name and keys of each ConfigMap and Secret that a pod needs."""
    for volume in spec.get("volumes", []):
        for part in [volume, *volume.get("projected", {}).get("sources", [])]:
            if "configMap" in part:
                keys = {item["key"] for item in part["configMap"].get("items", [])}
                yield "ConfigMap", part["configMap"]["name"], keys
            if "secret" in part:
                keys = {item["key"] for item in part["secret"].get("items", [])}
                yield "Secret", part["secret"].get("secretName", part["secret"].get("name")), keys
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        for source in container.get("envFrom", []):
            if "configMapRef" in source:
                yield "ConfigMap", source["configMapRef"]["name"], set()
            elif not source["secretRef"].get("optional"):
                yield "Secret", source["secretRef"]["name"], set()


def _missing_volumes(objects: list[Object]) -> Iterator[str]:
    claims = {
        name_of(one): {name_of(claim) for claim in one["spec"].get("volumeClaimTemplates", [])}
        for one in of_kind(objects, "StatefulSet")
    }
    for name, pod in pods(objects).items():
        have = {volume["name"] for volume in pod["spec"].get("volumes", [])} | claims.get(
            name, set()
        )
        for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            mounts = container.get("volumeMounts", [])
            for mount in mounts:
                if mount["name"] not in have:
                    yield f"{name}: no volume {mount['name']}"
            folders = [mount["mountPath"] for mount in mounts]
            for entry in container.get("env", []):
                path = entry.get("value", "")
                if path.startswith("/run/") and not any(path.startswith(f) for f in folders):
                    yield f"{name}: {entry['name']} is in no volume"


def foreign_objects(objects: list[Object]) -> list[str]:
    """No object needs a CustomResourceDefinition."""
    return [
        f"{one['kind']}/{name_of(one)} is of {one['apiVersion']}"
        for one in objects
        if not _CORE.match(one["apiVersion"])
    ]


def short_ends(objects: list[Object]) -> list[str]:
    """Workers have time to drain, and a budget lets a node be emptied, but not of all at once."""
    found = []
    budgets = of_kind(objects, "PodDisruptionBudget")
    for one in of_kind(objects, "Deployment", "StatefulSet"):
        name, pod = name_of(one), pod_of(one)
        mine = [b for b in budgets if selects(b["spec"]["selector"], pod["metadata"]["labels"])]
        if len(mine) != 1:
            found.append(f"{name} has {len(mine)} disruption budgets")  # two make eviction fail
            continue
        allowed = mine[0]["spec"].get("maxUnavailable", 0)
        if allowed in {0, "0%"}:
            found.append(f"{name}: no pod may ever be evicted")
        if name in {"worker", "browser"}:
            drain_s = float(environment(objects, name)["SEINE_DRAIN_SECONDS"])
            grace_s = pod["spec"]["terminationGracePeriodSeconds"]
            if grace_s < 2 * drain_s + _END_S:
                found.append(f"{name}: {grace_s} s are not enough for two drains of {drain_s:g} s")
    return found


@attrs.frozen
class Peer:
    """An end of a connection."""

    name: str
    labels: Labels = attrs.field(factory=dict)
    namespace: Labels | None = None
    """Labels of its namespace; None: it is in the fleet's own."""
    address: str = "10.9.9.9"


def allowed(objects: list[Object], source: Peer, target: Peer, port: Port) -> bool:
    """Whether the overlay's policies let a connection through."""
    return _direction(objects, "Egress", source, target, port) and _direction(
        objects, "Ingress", target, source, port
    )


def _direction(objects: list[Object], way: str, own: Peer, other: Peer, port: Port) -> bool:
    if own.namespace is not None or not own.labels:
        return True  # its namespace's policies are not ours
    policies = [
        one["spec"]
        for one in of_kind(objects, "NetworkPolicy")
        if way in one["spec"]["policyTypes"] and selects(one["spec"]["podSelector"], own.labels)
    ]
    ends, peers = ("egress", "to") if way == "Egress" else ("ingress", "from")
    return not policies or any(
        _port_fits(rule.get("ports"), port)
        and (peers not in rule or any(_is_peer(peer, other) for peer in rule[peers]))
        for spec in policies
        for rule in spec.get(ends, [])
    )


def _port_fits(ports: list[Object] | None, port: Port) -> bool:
    return not ports or any((one["port"], one.get("protocol", "TCP")) == port for one in ports)


def _is_peer(peer: Object, other: Peer) -> bool:
    if "ipBlock" in peer:
        address, block = ip_address(other.address), peer["ipBlock"]
        if other.labels or address.version != ip_network(block["cidr"]).version:
            return False  # pods are matched by labels: which address one has is not promised
        inside = address in ip_network(block["cidr"])
        return inside and not any(address in ip_network(b) for b in block.get("except", []))
    if "namespaceSelector" in peer:
        if other.namespace is None or not selects(peer["namespaceSelector"], other.namespace):
            return False
    elif other.namespace is not None:
        return False
    return "podSelector" not in peer or selects(peer["podSelector"], other.labels)
