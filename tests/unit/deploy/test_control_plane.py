"""What a cluster would make of each overlay: rules on the rendered objects, each seen to fail.

Every rule is tried twice: an overlay keeps it, and an overlay in which one thing was broken on
purpose does not.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from docs import write_rules
from scrapy_seine.engine.download.private_addresses import AddressPolicy
from settings import base
from tests.unit.deploy.cluster_rules import (
    Peer,
    allowed,
    foreign_objects,
    labels_of,
    missing_ports,
    missing_references,
    short_ends,
    wrong_selectors,
)
from tests.unit.deploy.manifest_rules import unversioned_images
from tests.unit.deploy.manifests import (
    OVERLAYS,
    ROOT,
    Object,
    built,
    containers,
    environment,
    name_of,
    named,
    of_kind,
    pods,
    render,
)

overlays = pytest.mark.parametrize("overlay", OVERLAYS)
DEPLOYING = (ROOT / "docs" / "deploying.md").read_text("utf-8")


def secrets() -> dict[str, set[str]]:
    """Keys of the Secrets that docs/deploying.md tells the operator to make."""
    (command,) = re.findall(r"create secret generic seine(?= )((?: \\\n|[^\n])+)", DEPLOYING)
    return {"seine": set(re.findall(r"--from-file=(\w+)", command)), "seine-registry": set()}


def unresolved(objects: list[Object]) -> list[str]:
    return missing_references(objects, secrets())


RULES = (wrong_selectors, missing_ports, unresolved, short_ends)


@overlays
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_an_overlay_keeps_each_rule(
    overlay: str, rule: Callable[[list[Object]], list[str]]
) -> None:
    assert rule(built(overlay)) == []


@pytest.mark.parametrize("overlay", ["production", "staging"])
def test_an_overlay_without_operators_applies_to_any_cluster(overlay: str) -> None:
    assert foreign_objects(built(overlay)) == []


def test_only_the_overlay_with_operators_needs_them() -> None:
    kinds = {line.partition("/")[0] for line in foreign_objects(built("production-operator"))}
    assert kinds == {"ScaledObject", "PodMonitor", "PrometheusRule"}


def _label_the_dns(objects: list[Object]) -> None:
    """What kustomize's includeSelectors did (kubernetes-sigs/kustomize#5912)."""
    policy = named(objects, "NetworkPolicy", "dns")
    peer = policy["spec"]["egress"][0]["to"][0]["podSelector"]
    peer["matchLabels"]["app.kubernetes.io/part-of"] = "seine"


def _select_another_worker(objects: list[Object]) -> None:
    budget = named(objects, "PodDisruptionBudget", "worker")
    budget["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] = "workers"


def _select_every_pod(objects: list[Object]) -> None:
    service = named(objects, "Service", "worker")
    del service["spec"]["selector"]["app.kubernetes.io/name"]


def _move_a_port(objects: list[Object]) -> None:
    named(objects, "Service", "exporter")["spec"]["ports"][0]["targetPort"] = "metrics"


def _probe_another_port(objects: list[Object]) -> None:
    container = pods(objects)["dashboard"]["spec"]["containers"][0]
    container["livenessProbe"]["httpGet"]["port"] = 8080


def _lose_a_secret(objects: list[Object]) -> None:
    volumes = pods(objects)["worker"]["spec"]["volumes"]
    volumes[0]["secret"]["items"][0]["key"] = "redis-url"


def _lose_a_config_map(objects: list[Object]) -> None:
    pods(objects)["coordinator"]["spec"]["containers"][0]["envFrom"][0]["configMapRef"]["name"] = (
        "seine"
    )


def _mount_elsewhere(objects: list[Object]) -> None:
    container = pods(objects)["worker"]["spec"]["containers"][0]
    container["volumeMounts"][0]["mountPath"] = "/run/secrets/other"


def _scale_nobody(objects: list[Object]) -> None:
    scaler = named(objects, "HorizontalPodAutoscaler", "worker")
    scaler["spec"]["scaleTargetRef"]["name"] = "workers"


def _kill_early(objects: list[Object]) -> None:
    pods(objects)["worker"]["spec"]["terminationGracePeriodSeconds"] = 30


def _drain_for_long(objects: list[Object]) -> None:
    for found in of_kind(objects, "ConfigMap"):
        if "SEINE_DRAIN_SECONDS" in found["data"]:
            found["data"]["SEINE_DRAIN_SECONDS"] = "40"


def _evict_nobody(objects: list[Object]) -> None:
    named(objects, "PodDisruptionBudget", "coordinator")["spec"]["maxUnavailable"] = 0


def _need_an_operator(objects: list[Object]) -> None:
    named(objects, "Service", "exporter")["apiVersion"] = "monitoring.coreos.com/v1"


BREAKS = (
    (_select_another_worker, wrong_selectors),
    (_select_every_pod, wrong_selectors),
    (_move_a_port, missing_ports),
    (_probe_another_port, missing_ports),
    (_lose_a_secret, unresolved),
    (_lose_a_config_map, unresolved),
    (_mount_elsewhere, unresolved),
    (_scale_nobody, unresolved),
    (_kill_early, short_ends),
    (_drain_for_long, short_ends),
    (_evict_nobody, short_ends),
    (_need_an_operator, foreign_objects),
)


@pytest.mark.parametrize(("damage", "rule"), BREAKS, ids=lambda part: part.__name__)
def test_a_rule_sees_what_was_broken(
    damage: Callable[[list[Object]], None], rule: Callable[[list[Object]], list[str]]
) -> None:
    objects = built("production")
    damage(objects)
    assert rule(objects)


def test_each_rule_is_broken_once() -> None:
    assert {rule for _, rule in BREAKS} == {*RULES, foreign_objects}


def _in(namespace: str) -> dict[str, str]:
    return {"kubernetes.io/metadata.name": namespace}


DNS = Peer("dns", {"k8s-app": "kube-dns"}, _in("kube-system"))
STORES = Peer("stores", address="10.4.5.6")
PROMETHEUS = Peer("monitoring", {"app": "prometheus"}, _in("monitoring"))
INGRESS = Peer("ingress", {"app": "nginx"}, _in("ingress-nginx"))
KEDA = Peer("keda", {"app": "keda-operator"}, _in("keda"))
OTHERS = Peer("others", {"app": "shop-backend"}, _in("default"))
NEIGHBOUR = Peer("neighbour", {"app": "something-else"})
OUTSIDE = (DNS, STORES, PROMETHEUS, INGRESS, KEDA, OTHERS, NEIGHBOUR)
SITE = Peer("site", address="93.184.216.34")
SITE6 = Peer("site6", address="2606:2800:220:1::1")
#: Ports that are tried at every end: all that the manifests name, and some that they do not.
PORTS = ((53, "UDP"), *((n, "TCP") for n in (53, 80, 443, 5432, 6379, 8800, 9090, 9808, 9809)))
STORE_USERS = ("worker", "browser", "coordinator", "dashboard", "exporter")


def flows(overlay: str) -> set[tuple[str, str, int]]:
    """Every connection that the overlay lets through, of those that are tried."""
    objects = built(overlay)
    return _flows(objects)


def _flows(objects: list[Object]) -> set[tuple[str, str, int]]:
    ours = [Peer(name, labels) for name, labels in labels_of(objects).items()]
    outside = [*OUTSIDE, SITE, SITE6]
    pairs = [(a, b) for a in ours for b in [*ours, *outside] if a is not b]
    pairs += [(a, b) for a in OUTSIDE for b in ours]
    return {
        (a.name, b.name, port[0])
        for a, b in pairs
        for port in PORTS
        if allowed(objects, a, b, port)
    }


def _table(
    *, prometheus: bool, redis: bool, keda: bool, browser: bool
) -> set[tuple[str, str, int]]:
    """The flows that are meant."""
    workers = {"worker", "browser"} if browser else {"worker"}
    users = {name for name in STORE_USERS if browser or name != "browser"}
    table = {(name, "dns", 53) for name in [*users, "migrate"]}
    table |= {(name, "stores", 6379) for name in users}
    table |= {(name, "stores", 5432) for name in [*users, "migrate"]}
    table |= {(n, site, p) for n in workers for site in ("site", "site6") for p, _ in PORTS}
    table |= {("monitoring", name, 9809) for name in workers}
    table |= {("monitoring", "exporter", 9808), ("ingress", "dashboard", 8800)}
    if prometheus:
        table |= {("prometheus", name, 9809) for name in workers}
        table |= {("prometheus", "exporter", 9808), ("prometheus", "dns", 53)}
        table |= {("monitoring", "prometheus", 9090)}
    if redis:
        table |= {(name, "redis", 6379) for name in users}
    if keda:
        table |= {("keda", "exporter", 9808)}
    return table


MEANT_FLOWS = {
    "production": _table(prometheus=True, redis=False, keda=False, browser=True),
    "production-operator": _table(prometheus=False, redis=False, keda=True, browser=True),
    "staging": _table(prometheus=False, redis=True, keda=False, browser=False),
}


@overlays
def test_the_policies_allow_exactly_the_flows_of_the_table(overlay: str) -> None:
    assert flows(overlay) == MEANT_FLOWS[overlay]


def _open(objects: list[Object]) -> None:
    named(objects, "NetworkPolicy", "default-deny")["spec"]["policyTypes"] = ["Egress"]


def _ask_nobody(objects: list[Object]) -> None:
    policy = named(objects, "NetworkPolicy", "worker-metrics-from-monitoring")
    policy["spec"]["ingress"][0]["ports"][0]["port"] = 9808


def _reach_the_neighbours(objects: list[Object]) -> None:
    policy = named(objects, "NetworkPolicy", "workers-to-the-internet")
    del policy["spec"]["egress"][0]["to"][0]["ipBlock"]["except"]


@pytest.mark.parametrize("damage", [_label_the_dns, _open, _ask_nobody, _reach_the_neighbours])
def test_the_table_of_flows_sees_what_was_broken(damage: Callable[[list[Object]], None]) -> None:
    objects = built("production")
    damage(objects)
    assert _flows(objects) != MEANT_FLOWS["production"]


#: One address of each special-purpose registry entry (IANA; RFC 6890), and the clouds' metadata.
PRIVATE = [
    "0.0.0.1",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.254",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::1",
    "64:ff9b::a00:1",
    "2001:db8::1",
    "2002:a00:1::1",
    "::ffff:10.0.0.1",
    "2001:0:a00:1::1",
]


@overlays
def test_no_page_can_send_a_worker_to_a_private_address(overlay: str) -> None:
    """I9, in the network as well as in the worker; the stores' own ports are told above."""
    objects = built(overlay)
    worker = Peer("worker", labels_of(objects)["worker"])
    for address in PRIVATE:
        assert AddressPolicy().is_private(address), "the worker refuses it itself"
        for port in (80, 443, 9200):
            assert not allowed(objects, worker, Peer("x", address=address), (port, "TCP")), address


def test_another_namespace_and_crawl_follow_into_the_autoscaler(tmp_path: Path) -> None:
    """The trigger's address is the only place with a namespace in it, and none names a crawl."""
    shutil.copytree(ROOT / "k8s", tmp_path / "k8s")
    path = tmp_path / "k8s" / "overlays" / "production-operator" / "kustomization.yaml"
    text = path.read_text().replace("namespace: seine\n", "namespace: boats\n")
    path.write_text(
        text + "configMapGenerator:\n"
        "  - {name: seine, behavior: merge, literals: [SEINE_CRAWL=shoes]}\n"
    )
    objects = render(path.parent)
    (scaled,) = of_kind(objects, "ScaledObject")
    (trigger,) = scaled["spec"]["triggers"]
    assert trigger["metadata"]["url"] == "http://exporter.boats.svc:9808/demand"
    assert "catalog" not in yaml.safe_dump(scaled)
    crawls = {
        m["data"]["SEINE_CRAWL"]
        for m in of_kind(objects, "ConfigMap")
        if "SEINE_CRAWL" in m["data"]
    }
    assert crawls == {"shoes"}


@pytest.mark.parametrize("scaler", ["hpa/hpa.yaml", "keda/scaledobject.yaml"])
def test_no_autoscaler_names_a_crawl(scaler: str) -> None:
    text = (ROOT / "k8s" / "components" / scaler).read_text()
    assert "catalog" not in text


def test_every_file_names_the_projects_version() -> None:
    """One source: pyproject.toml."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    files = ["k8s/components/release/kustomization.yaml", "compose.yaml", ".env.example"]
    for name in [*files, "docs/deploying.md", "Dockerfile"]:
        text = (ROOT / name).read_text("utf-8")
        named = re.findall(r"seine(?:-browser)?(?::|, newTag: )(\d+\.\d+\.\d+)", text)
        assert set(named) <= {version}, name
        assert named or name == "Dockerfile", name
    # A crawl of 0.2.0 introduced itself as 0.1: what has no version is never wrong.
    assert not re.search(r"\d", base.USER_AGENT.partition("(")[0])


def test_the_guide_shows_what_the_first_apply_prints() -> None:
    (shown,) = re.findall(r"\$ kubectl apply -k k8s/overlays/production\n(.+?)```", DEPLOYING, re.S)
    printed = []
    for one in built("production"):
        group = one["apiVersion"].rpartition("/")[0]
        kind = f"{one['kind'].lower()}.{group}" if group else one["kind"].lower()
        printed.append(f"{kind}/{name_of(one)} created")
    assert shown.splitlines() == printed


def test_images_are_named_in_one_place() -> None:
    for path in (ROOT / "k8s" / "overlays").rglob("kustomization.yaml"):
        assert "images:" not in path.read_text(), path


@pytest.mark.parametrize(
    "component", ["hpa", "keda", "monitoring-plain", "monitoring-operator", "webhooks"]
)
def test_a_component_says_what_it_needs(component: str) -> None:
    folder = ROOT / "k8s" / "components" / component
    assert "needs" in (folder / "README.md").read_text("utf-8")


@overlays
def test_no_placeholder_of_a_shop_is_live(overlay: str) -> None:
    for about, container in containers(built(overlay)):
        assert "shop.example" not in " ".join(container.get("args", [])), about


def test_the_full_crawl_waits_for_its_site_and_is_a_job() -> None:
    text = (ROOT / "k8s" / "components" / "full-crawl" / "full-crawl.yaml").read_text()
    spec = yaml.safe_load(text)["spec"]
    assert spec["suspend"] is True
    (container,) = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][:3] == ["scrapy", "jobs", "start"]


def test_the_operators_rules_are_the_alerts() -> None:
    assert write_rules.TARGET.read_text("utf-8") == write_rules.written(), (
        "run: python docs/write_rules.py"
    )
    (rule,) = of_kind(built("production-operator"), "PrometheusRule")
    alerts = yaml.safe_load((ROOT / "k8s" / "monitoring" / "alerts.yaml").read_text())
    assert rule["spec"] == alerts


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_the_plain_prometheus_accepts_its_configuration() -> None:
    path = ROOT / "k8s" / "components" / "monitoring-plain" / "scrape.yaml"
    done = subprocess.run(
        ["promtool", "check", "config", "--syntax-only", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_plain_prometheus_finds_the_services_that_there_are() -> None:
    """SRV records are those of a Service's named ports."""
    path = ROOT / "k8s" / "components" / "monitoring-plain" / "scrape.yaml"
    jobs = yaml.safe_load(path.read_text())["scrape_configs"]
    asked = {name for job in jobs for found in job["dns_sd_configs"] for name in found["names"]}
    services = {
        f"_{port['name']}._tcp.{name_of(one)}"
        for one in of_kind(built("production"), "Service")
        for port in one["spec"]["ports"]
    }
    assert asked <= services
    for target in ("10-0-0-7.worker.seine.svc.cluster.local.", "exporter.seine.svc.x."):
        (rule,) = jobs[0]["relabel_configs"]
        found = re.fullmatch(rule["regex"], target)  # Prometheus anchors, too
        assert found is not None
        assert found[1] == "seine"


@overlays
@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("component", ["proxies", "full-crawl", "redis", "browser", "webhooks"])
def test_a_component_can_be_listed_anywhere(
    tmp_path: Path, overlay: str, component: str, place: str
) -> None:
    """Listed last, `full-crawl` had an image of a stranger's; `proxies` first left browsers out."""
    shutil.copytree(ROOT / "k8s", tmp_path / "k8s")
    path = tmp_path / "k8s" / "overlays" / overlay / "kustomization.yaml"
    line = f"  - ../../components/{component}\n"
    head, _, rest = path.read_text().replace(line, "").partition("components:\n")
    (listed,) = re.findall(r"\A(?:  - .*\n)+", rest)
    rest = rest.removeprefix(listed)
    listed = line + listed if place == "first" else listed + line
    path.write_text(f"{head}components:\n{listed}{rest}")
    objects = render(path.parent)
    assert [line for rule in (*RULES, unversioned_images) for line in rule(objects)] == []
    found = _flows(objects) - MEANT_FLOWS[overlay]
    if component == "webhooks":
        assert found == {
            ("coordinator", site, port) for site in ("site", "site6") for port, _ in PORTS
        }
    if component == "proxies":
        for name in {"worker", "browser"} & set(pods(objects)):
            path = Path(environment(objects, name)["PROXY_LIST"])
            (container,) = pods(objects)[name]["spec"]["containers"]
            assert str(path.parent) in {each["mountPath"] for each in container["volumeMounts"]}
