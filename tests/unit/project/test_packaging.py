"""What is packed runs packed: an egg holds all data files, no tests, and is never unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.helpers import patient
from tests.integration.scrapyd_kit import ROOT, build_egg, checkout

PACKAGES = ("scrapy_seine", "crawler", "spiders", "pipelines", "middlewares", "settings")

#: Runs with the egg in front of everything else, and touches each kind of data file.
READS = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import crawler, middlewares, pipelines, scrapy_seine, settings, spiders
for package in (scrapy_seine, crawler, middlewares, pipelines, settings, spiders):
    assert package.__file__.startswith(sys.argv[1]), package.__file__
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if ".commands." not in info.name and not info.name.endswith("__main__"):
            importlib.import_module(info.name)
from importlib import resources
from crawler.access import identities
from crawler.stores import migrations
from scrapy_seine import lua_scripts
from spiders import which_site
assert identities.profiles()
assert which_site.site_named("demo") is not None
assert migrations.available()
assert lua_scripts.load_script("scrapy_seine.frontier", "lease").keys
read = 0
for name in sys.argv[2:]:
    package, _, rest = name.partition("/")
    node = resources.files(package)
    for part in rest.split("/"):
        node = node / part
    read += node.is_file()
print(read)
"""

#: Builds a wheel by the hooks of PEP 517 and PEP 660.
BUILDS = """
import sys
from setuptools import build_meta
kind, folder = sys.argv[1:]
name = getattr(build_meta, f"prepare_metadata_for_build_{kind}")(folder)
print(getattr(build_meta, f"build_{kind}")(folder, metadata_directory=f"{folder}/{name}"))
"""


def data_files() -> list[str]:
    """Every file of the packages that is no Python."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    )


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as scrapyd-deploy packs it."""
    folder = tmp_path_factory.mktemp("egg")
    build_egg(checkout(folder / "checkout"), folder / "seine.egg")
    return folder / "seine.egg"


def test_the_egg_holds_every_data_file_and_no_test(egg: Path) -> None:
    names = set(zipfile.ZipFile(egg).namelist())
    assert data_files()
    assert set(data_files()) <= names
    assert not [name for name in names if name.startswith(("tests", "docs", "k8s"))]
    assert "EGG-INFO/zip-safe" in names


def test_the_zipped_egg_reads_its_data_and_imports_all_its_modules(
    egg: Path, tmp_path: Path
) -> None:
    files = data_files()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READS, str(egg), *files],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=patient(100),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(files)


def wheel_of(kind: str, folder: Path) -> zipfile.ZipFile:
    """Build a wheel as pip does, metadata first, in a checkout where an egg was built before."""
    source = checkout(folder / "checkout")
    for left in ("settings/__init__.py", "scrapy_seine/gone.py"):
        path = source / "build/lib" / left
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    done = subprocess.run(
        [sys.executable, "-c", BUILDS, kind, str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
        text=True,
        timeout=patient(100),
    )
    return zipfile.ZipFile(folder / done.stdout.splitlines()[-1])


def entry_points_of(wheel: zipfile.ZipFile) -> str:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    return wheel.read(name).decode()


def test_the_wheel_holds_the_library_alone(tmp_path: Path) -> None:
    """Packages called `settings` or `spiders` cannot be installed beside anybody's project.

    Nor may its script take the place of Scrapy's, which would be gone with the library.
    """
    packed = wheel_of("wheel", tmp_path)
    tops = {name.partition("/")[0] for name in packed.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"scrapy_seine"}
    assert entry_points_of(packed) == (
        "[scrapy.commands]\nseine = scrapy_seine.commands.seine:Command\n"
    )
    assert "scrapy_seine/frontier/lua/lease.lua" in packed.namelist()
    assert "scrapy_seine/py.typed" in packed.namelist()
    assert "scrapy_seine/gone.py" not in packed.namelist()


def test_an_installation_for_development_has_a_scrapy_of_its_own(tmp_path: Path) -> None:
    points = entry_points_of(wheel_of("editable", tmp_path))
    assert "[console_scripts]\nscrapy = scrapy_seine.interrupts:main\n" in points
    assert "seine = scrapy_seine.commands.seine:Command\n" in points
