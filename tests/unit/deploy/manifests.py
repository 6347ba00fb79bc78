"""What an overlay renders to, for the tests of what is deployed."""

from __future__ import annotations

import copy
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.helpers import patient

ROOT = Path(__file__).parents[3]
#: Overlays of this repository; the second one needs operators.
OVERLAYS = ("production", "production-operator", "staging")
WORKLOADS = ("Deployment", "StatefulSet", "Job", "CronJob")
Object = dict[str, Any]


def tool(name: str) -> str:
    """A program that came with a package, or is installed."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found, f"{name} is missing: make lint installs it"
    return found


def render(folder: Path) -> list[Object]:
    """What `kubectl kustomize` makes of a folder."""
    done = subprocess.run(
        [tool("kubectl"), "kustomize", str(folder)],
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.load_all(done.stdout, yaml.CSafeLoader))


@cache
def _built(overlay: str) -> tuple[Object, ...]:
    return tuple(render(ROOT / "k8s" / "overlays" / overlay))


def built(overlay: str) -> list[Object]:
    """The objects of an overlay, for the caller to change."""
    return copy.deepcopy(list(_built(overlay)))


def of_kind(objects: Iterable[Object], *kinds: str) -> list[Object]:
    return [found for found in objects if found["kind"] in kinds]


def name_of(found: Object) -> str:
    name: str = found["metadata"]["name"]
    return name


def named(objects: Iterable[Object], kind: str, name: str) -> Object:
    """The object of that kind and name."""
    (found,) = (found for found in of_kind(objects, kind) if name_of(found) == name)
    return found


def settings_of(objects: Iterable[Object]) -> dict[str, str]:
    """The fleet's settings, which every part of it reads."""
    maps = [found["data"] for found in of_kind(objects, "ConfigMap")]
    (data,) = (data for data in maps if "SCRAPY_SETTINGS_MODULE" in data)
    return data  # type: ignore[no-any-return]


def pod_of(workload: Object) -> Object:
    """A workload's pod template."""
    spec = workload["spec"]
    if workload["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    template: Object = spec["template"]
    return template


def pods(objects: Iterable[Object]) -> dict[str, Object]:
    """Pod templates by the name of their workload."""
    return {name_of(workload): pod_of(workload) for workload in of_kind(objects, *WORKLOADS)}


def containers(objects: Iterable[Object]) -> Iterator[tuple[str, Object]]:
    """Each container with a name to report it by."""
    for name, pod in pods(objects).items():
        for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            yield f"{name}/{container['name']}", container


def environment(objects: list[Object], workload: str) -> dict[str, str]:
    """What a workload's ConfigMap and its own lines set."""
    maps = {name_of(m): m["data"] for m in of_kind(objects, "ConfigMap")}
    container = pods(objects)[workload]["spec"]["containers"][0]
    values: dict[str, str] = {}
    for source in container.get("envFrom", []):
        if "configMapRef" in source:
            values |= maps[source["configMapRef"]["name"]]
    return values | {entry["name"]: entry["value"] for entry in container["env"]}
