"""What is deployed: each overlay builds, is valid, and keeps the promises the fleet relies on."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import playwright
import pytest
import yaml

from tests.helpers import patient
from tests.unit.deploy.manifest_rules import (
    RULES,
    careless_scalers,
    changed_jobs,
    early_hooks,
    hidden_targets,
    huddled_workers,
    invalid_objects,
    restarts_in_an_outage,
    shown_secrets,
    undenied_pods,
    unknown_settings,
    unlimited_containers,
    unrestricted_pods,
    unversioned_images,
    unwatched_workloads,
)
from tests.unit.deploy.manifests import (
    OVERLAYS,
    ROOT,
    Object,
    built,
    named,
    of_kind,
    pods,
    settings_of,
    tool,
)

DEPLOYING = (ROOT / "docs" / "deploying.md").read_text("utf-8")
overlays = pytest.mark.parametrize("overlay", OVERLAYS)
Rule = Callable[[list[Object]], list[str]]


@overlays
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_an_overlay_keeps_each_promise(overlay: str, rule: Rule) -> None:
    assert rule(built(overlay)) == []


def _container(objects: list[Object], workload: str) -> Object:
    found: Object = pods(objects)[workload]["spec"]["containers"][0]
    return found


def _misspell_a_field(objects: list[Object]) -> None:
    _container(objects, "worker")["enviroment"] = []


def _misspell_a_field_of_keda(objects: list[Object]) -> None:
    named(objects, "ScaledObject", "worker")["spec"]["minReplicas"] = 0


def _misspell_a_field_of_a_monitor(objects: list[Object]) -> None:
    named(objects, "PodMonitor", "seine-fleet")["spec"]["podMetricsEndpoints"][0]["intervall"] = (
        "1s"
    )


def _misspell_a_field_of_an_alert(objects: list[Object]) -> None:
    named(objects, "PrometheusRule", "seine")["spec"]["groups"][0]["rules"][0]["form"] = "5m"


def _run_as_root(objects: list[Object]) -> None:
    pods(objects)["worker"]["spec"]["securityContext"]["runAsUser"] = 0


def _write_anywhere(objects: list[Object]) -> None:
    _container(objects, "exporter")["securityContext"]["readOnlyRootFilesystem"] = False


def _take_any_pod(objects: list[Object]) -> None:
    del named(objects, "Namespace", "seine")["metadata"]["labels"][
        "pod-security.kubernetes.io/enforce"
    ]


def _mount_the_host(objects: list[Object]) -> None:
    pods(objects)["worker"]["spec"]["volumes"].append({"name": "x", "hostPath": {"path": "/"}})


def _need_any_memory(objects: list[Object]) -> None:
    del _container(objects, "worker")["resources"]["limits"]["memory"]


def _run_the_latest(objects: list[Object]) -> None:
    _container(objects, "worker")["image"] = "registry.example.com/seine:latest"


def _ask_nothing(objects: list[Object]) -> None:
    del _container(objects, "dashboard")["livenessProbe"]


def _evict_all(objects: list[Object]) -> None:
    objects.remove(named(objects, "PodDisruptionBudget", "exporter"))


def _restart_without_redis(objects: list[Object]) -> None:
    _container(objects, "worker")["livenessProbe"]["httpGet"]["path"] = "/readyz"


def _start_in_a_minute(objects: list[Object]) -> None:
    _container(objects, "worker")["startupProbe"]["failureThreshold"] = 20


def _hide_the_exporter(objects: list[Object]) -> None:
    del named(objects, "Service", "exporter")["spec"]["publishNotReadyAddresses"]


def _number_the_workers(objects: list[Object]) -> None:
    named(objects, "Deployment", "worker")["spec"]["replicas"] = 1


def _put_all_on_a_node(objects: list[Object]) -> None:
    del pods(objects)["worker"]["spec"]["topologySpreadConstraints"]


def _scale_twice(objects: list[Object]) -> None:
    objects.append(named(objects, "ScaledObject", "worker"))


def _show_the_password(objects: list[Object]) -> None:
    _container(objects, "worker")["env"].append({"name": "REDIS_URL", "value": "redis://:pw@r/0"})


def _show_the_token(objects: list[Object]) -> None:
    settings_of(objects)["SEINE_WEBHOOK_SECRET"] = "x" * 24


def _deny_half(objects: list[Object]) -> None:
    named(objects, "NetworkPolicy", "default-deny")["spec"]["policyTypes"] = ["Ingress"]


def _deny_some(objects: list[Object]) -> None:
    del pods(objects)["exporter"]["metadata"]["labels"]["app.kubernetes.io/part-of"]


def _misspell_a_setting(objects: list[Object]) -> None:
    settings_of(objects)["SEINE_DRAIN_SECNDS"] = "20"


def _read_an_unknown_secret(objects: list[Object]) -> None:
    _container(objects, "worker")["env"].append(
        {"name": "REDIS_URI_FILE", "value": "/run/secrets/seine/redis_url"}
    )


def _give_the_job_settings(objects: list[Object]) -> None:
    _container(objects, "migrate")["envFrom"] = _container(objects, "worker")["envFrom"]


def _sync_the_job_first(objects: list[Object]) -> None:
    named(objects, "Job", "migrate")["metadata"]["annotations"]["argocd.argoproj.io/hook"] = (
        "PreSync"
    )


def _count_nothing_as_zero(objects: list[Object]) -> None:
    del named(objects, "ScaledObject", "worker")["spec"]["fallback"]["behavior"]


def _ask_another_namespace(objects: list[Object]) -> None:
    (trigger,) = named(objects, "ScaledObject", "worker")["spec"]["triggers"]
    trigger["metadata"]["url"] = "http://exporter.NAMESPACE.svc:9808/demand"


def _ask_for_the_queue(objects: list[Object]) -> None:
    (metric,) = named(objects, "HorizontalPodAutoscaler", "worker")["spec"]["metrics"]
    metric["external"]["metric"]["name"] = "seine_frontier_requests"


OPERATOR = {
    _misspell_a_field_of_keda,
    _misspell_a_field_of_a_monitor,
    _misspell_a_field_of_an_alert,
    _scale_twice,
    _count_nothing_as_zero,
    _ask_another_namespace,
}
BREAKS = (
    (_misspell_a_field, invalid_objects),
    (_misspell_a_field_of_keda, invalid_objects),
    (_misspell_a_field_of_a_monitor, invalid_objects),
    (_misspell_a_field_of_an_alert, invalid_objects),
    (_run_as_root, unrestricted_pods),
    (_write_anywhere, unrestricted_pods),
    (_take_any_pod, unrestricted_pods),
    (_mount_the_host, unrestricted_pods),
    (_need_any_memory, unlimited_containers),
    (_run_the_latest, unversioned_images),
    (_ask_nothing, unwatched_workloads),
    (_evict_all, unwatched_workloads),
    (_restart_without_redis, restarts_in_an_outage),
    (_start_in_a_minute, restarts_in_an_outage),
    (_hide_the_exporter, hidden_targets),
    (_number_the_workers, huddled_workers),
    (_put_all_on_a_node, huddled_workers),
    (_scale_twice, huddled_workers),
    (_show_the_password, shown_secrets),
    (_show_the_token, shown_secrets),
    (_deny_half, undenied_pods),
    (_deny_some, undenied_pods),
    (_misspell_a_setting, unknown_settings),
    (_read_an_unknown_secret, unknown_settings),
    (_give_the_job_settings, changed_jobs),
    (_sync_the_job_first, early_hooks),
    (_count_nothing_as_zero, careless_scalers),
    (_ask_another_namespace, careless_scalers),
    (_ask_for_the_queue, careless_scalers),
)


@pytest.mark.parametrize(("damage", "rule"), BREAKS, ids=lambda part: part.__name__)
def test_a_broken_promise_is_seen(damage: Callable[[list[Object]], None], rule: Rule) -> None:
    objects = built("production-operator" if damage in OPERATOR else "production")
    damage(objects)
    assert rule(objects)


def test_each_promise_is_broken_once() -> None:
    assert {rule for _, rule in BREAKS} == set(RULES)


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


#: Packages with the libraries of Playwright's Node: of every Debian, or what Chromium depends on.
LIBRARIES = {
    **dict.fromkeys(("libc", "libm", "libdl", "libpthread", "ld-linux-x86-64"), ""),
    **dict.fromkeys(("linux-vdso", "ld-linux-aarch64"), ""),
    "libstdc++": "chromium",
    "libgcc_s": "chromium",
    "libatomic": "libatomic1",
}


@pytest.mark.skipif(not shutil.which("ldd"), reason="there is no ldd")
def test_the_browsers_image_holds_each_library_of_playwrights_node() -> None:
    """Without one the worker starts, and renders no page."""
    node = Path(next(iter(playwright.__path__))) / "driver" / "node"
    told = subprocess.run(["ldd", str(node)], capture_output=True, text=True, check=True).stdout
    needed = {Path(line.split()[0]).name.partition(".so")[0] for line in told.splitlines()}
    packages = {LIBRARIES[name] for name in needed} - {""}
    text = (ROOT / "Dockerfile").read_text()
    (installed,) = re.findall(r"install .*--no-install-recommends (chromium .+) \\\n", text)
    assert packages <= set(installed.split())


def test_the_image_runs_as_nobody_and_in_exec_form() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert lines.count("USER 10001:10001") == 2
    for line in lines:
        if line.startswith(("CMD", "ENTRYPOINT")):
            assert line.split(None, 1)[1].startswith("["), line


def compose() -> Object:
    loaded: Object = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_guides_secrets_are_the_containers_and_nobody_elses(tmp_path: Path, umask: int) -> None:
    """They were readable by all users of the machine, because only the files had their modes."""
    shutil.copy(ROOT / ".env.example", tmp_path)
    lines = re.findall(r"^\$ (.*)$", DEPLOYING, re.MULTILINE)
    begin = next(i for i, line in enumerate(lines) if line.startswith("cp .env.example"))
    end = next(i for i, line in enumerate(lines) if line.startswith("touch secrets"))
    script = "\n".join(["set -e", *lines[begin : end + 1]])
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, umask=umask)
    folder = tmp_path / "secrets"
    assert folder.stat().st_mode & 0o777 == 0o700
    for secret in compose()["secrets"].values():
        assert (tmp_path / secret["file"]).stat().st_mode & 0o777 == 0o644


def test_a_checkout_that_its_owner_alone_can_read_makes_an_image_that_runs() -> None:
    """A clone under umask 077 has files that the image's user could not read."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copied, opened = text.index("cp -r crawler"), text.index("chmod -R a+rX /app")
    assert copied < opened < text.index("COPY --from=project /app /app")


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


def test_composes_database_counts_as_healthy_when_others_can_reach_it() -> None:
    # The image's first server, which makes the database, listens on the socket alone.
    assert "--host" in compose()["services"]["postgres"]["healthcheck"]["test"]


def test_composes_parts_read_what_compose_does_not_name() -> None:
    """USER_AGENT, AWS_ACCESS_KEY_ID, SEINE_WEBHOOK_URL …: one file, which the guide makes."""
    parts = [s for s in compose()["services"].values() if "seine" in s["image"]]
    assert len(parts) == 7
    assert {part["env_file"] for part in parts} == {"secrets/environment"}
    assert "touch secrets/proxies secrets/environment" in DEPLOYING


def test_composes_coordinator_reaches_a_receiver_of_webhooks() -> None:
    assert compose()["services"]["coordinator"]["networks"] == ["stores", "outside"]


def test_prometheus_finds_the_services_that_compose_names() -> None:
    text = (ROOT / "k8s" / "monitoring" / "prometheus.yaml").read_text()
    for name in ("exporter", "worker", "browser"):
        assert name in compose()["services"]
        assert f'"{name}' in text


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="docker-compose is not installed")
def test_compose_itself_accepts_the_file(tmp_path: Path) -> None:
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    (tmp_path / "secrets").mkdir()
    for name in [*compose()["secrets"], "environment"]:
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
