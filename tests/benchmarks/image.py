"""Runs the image that `.ci/image` built as Kubernetes would, and crawls a shop with it.

`python -m tests.benchmarks.image --json` starts the worker of the rendered manifests in the image's
files: read-only, as the manifests' user, without capabilities, with a /tmp of their size, the
secrets where they are mounted, the image's entry point and environment. It crawls the demo shop,
keeps the pages in a bucket (moto's S3), and is judged product by product. The last line is a JSON
object: the verdict, objects and bytes in the bucket, and the image's sizes. Needs root.

`--browser` runs the image with browsers instead, on a shop whose pages scripts fill, once with
Chromium and once with Firefox; `rendered` is how many pages each of them fetched.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from crawler.demo.judge import judge
from crawler.demo.pages import Site
from crawler.demo.shop_process import served
from crawler.demo.stored_rows import stored_products
from crawler.stores import embedded
from crawler.stores.embedded import Servers
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import blocking_client
from scrapy_seine.embedded.data_folder import layout
from tests.helpers import patient, server_folder
from tests.unit.deploy.manifests import Object, built, environment, pods

ROOT = Path(__file__).parents[2] / "build" / "image"
BUCKET = "pages"
SITE = "image"
_LIMIT_S = 600
_STEP = re.compile(r"'ladder/requests/(\w+)': (\d+)")
#: Arguments: root, secrets, stores, user:group, size of /tmp, then the program. Only the mounts of
#: the manifests can be written; a name space of its own ends them with the program.
_ENTER = """
set -eu
root=$1 secrets=$2 stores=$3 user=$4 room=$5; shift 5
mount --bind "$root" "$root"
mkdir -p "$root/run/secrets/seine" "$root/mnt/redis" "$root/mnt/postgres"
mount -t tmpfs -o size="$room",mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind "$secrets" "$root/run/secrets/seine"
mount --bind "$stores/redis" "$root/mnt/redis"
mount --bind "$stores/postgres" "$root/mnt/postgres"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all \\
    chroot --userspec="$user" --groups= "$root" sh -c 'cd "$0" && exec "$@"' "$@"
"""


def image_settings(image: str) -> Mapping[str, Any]:
    """Return what an image says of how it is run.

    Raises:
        SystemExit: there is no image.
    """
    path = ROOT / f"{image}.json"
    if not path.exists():
        sys.exit(f"there is no image: .ci/image {image} builds one")
    found: Mapping[str, Any] = json.loads(path.read_text())["OCIv1"]["config"]
    return found


class Container:
    """A workload of the manifests, in the files of the image of its name."""

    def __init__(
        self, image: str, folder: Path, servers: Servers, given: Mapping[str, str]
    ) -> None:
        objects = built("production")
        pod: Object = pods(objects)[image]["spec"]
        self.image, self.settings = image, image_settings(image)
        self.room: str = next(
            volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"] if "emptyDir" in volume
        ).removesuffix("i")
        self.arguments: list[str] = pod["containers"][0]["args"]
        self.stop_s: float = pod["terminationGracePeriodSeconds"]
        user = pod["securityContext"]
        self.user = f"{user['runAsUser']}:{user['runAsGroup']}"
        env = dict(line.split("=", 1) for line in self.settings["Env"])
        self.env = {**env, **environment(objects, image), **given}
        self.secrets, self.stores = folder / "secrets", folder / "stores"
        self._lay(servers)

    def _lay(self, servers: Servers) -> None:
        """Put secrets and stores where they are mounted."""
        place = layout(servers.data)
        for name in ("redis", "postgres"):
            (self.stores / name).mkdir(parents=True)
        _same_file(place.redis_socket, self.stores / "redis" / "socket")
        found = place.postgres_sockets / ".s.PGSQL.5432"
        _same_file(found, self.stores / "postgres" / found.name)
        self.secrets.mkdir()
        (self.secrets / "redis_url").write_text("unix:///mnt/redis/socket?db=0")
        (self.secrets / "database_url").write_text("postgresql://seine@/seine?host=/mnt/postgres")

    def run(self, *arguments: str, out: Any = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start a program in it; none: what the manifest starts."""
        call = [*self.settings["Entrypoint"], *(arguments or self.arguments)]
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _ENTER, "sh"]
        root = os.path.realpath(ROOT / self.image)
        places = [root, self.secrets, self.stores, self.user, self.room]
        return subprocess.Popen(
            [*enter, *map(str, places), self.settings["WorkingDir"], *call],
            env=self.env,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def says(self, *arguments: str) -> str:
        """Run a program in it, and return what it prints."""
        return self.run(*arguments).communicate(timeout=_LIMIT_S)[0].strip()


def _same_file(there: Path, here: Path) -> None:
    """Let another user reach a socket, in a folder where only root can make files."""
    there.chmod(0o666)
    os.link(there, here)


def size_mb(path: Path) -> float:
    """Return what a folder takes, MB."""
    done = subprocess.run(
        ["du", "--summarize", "--bytes", str(path)], check=True, capture_output=True, text=True
    )
    return round(int(done.stdout.split()[0]) / 1e6, 1)


def crawl(products: int, folder: Path, s3: str, servers: Servers, kind: str = "") -> dict[str, Any]:
    """Crawl the demo shop; *kind* of browser: one whose pages scripts fill.

    Returns what was found.
    """
    keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_REGION": "us-east-1"}
    bucket = boto3.client(
        "s3",
        endpoint_url=s3,
        aws_access_key_id="id",
        aws_secret_access_key="key",
        region_name="us-east-1",
    )
    bucket.create_bucket(Bucket=BUCKET)
    given = {
        **keys,
        "AWS_ENDPOINT_URL": s3,
        "SEINE_ARCHIVE": f"s3://{BUCKET}/{kind or SITE}",
        "STATS_DUMP": "1",
        "SEINE_KEEP_ALIVE": "0",
        "SEINE_METRICS_HOST": "127.0.0.1",
        "SEINE_METRICS_PORT": "0",
    }
    if kind:
        given |= {"PLAYWRIGHT_BROWSER_TYPE": kind}
    site, guard = kind or SITE, ["script"] if kind else []
    container = Container("browser" if kind else "worker", folder, servers, given)
    refused = container.says("sh", "-c", "id -u; touch /app/x 2>&1; touch /tmp/x && echo tmp")
    log = folder / "worker.log"
    with (
        served(products=products, guard=guard) as shop,
        blocking_client(servers.redis_url) as redis,
    ):
        seed = {"url": shop.url, "meta": {"site_id": site}}
        redis.lpush(f"{container.env['SEINE_CRAWL']}:start_urls", json.dumps(seed))
        began = time.monotonic()
        with log.open("w") as out:
            running = container.run(out=out)
            try:
                status = running.wait(patient(_LIMIT_S))
            finally:
                running.kill()  # and with it what runs in there
    if status:
        print(log.read_text()[-3000:])
    verdict = judge(Site(products).products, stored_products(servers.database_url, site))
    steps = dict(_STEP.findall(log.read_text()))
    objects = bucket.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {
        "status": status,
        "passed": verdict.passed,
        "verdict": verdict.line(time.monotonic() - began),
        "as": refused.split("\n")[0],
        "read_only": "Read-only file system" in refused and refused.endswith("tmp"),
        "objects": len(objects),
        "object_bytes": sum(one["Size"] for one in objects),
        "rendered": int(steps.get("browser", 0)),
    }


def main() -> int:
    """Crawl and print; 1 where a product is missing or wrong, or something could be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--products", type=int, help="200; with --browser 40, of which each is rendered"
    )
    parser.add_argument("--browser", action="store_true", help="the image with browsers")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    image = "browser" if options.browser else "worker"
    products = options.products or (40 if options.browser else 200)
    kinds = ["chromium", "firefox"] if options.browser else [""]
    image_settings(image)
    root = Path(os.path.realpath(ROOT / image))
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = {}
    try:
        for kind in kinds:
            with server_folder() as folder:
                servers = embedded.start(folder)
                migrate(servers.database_url)
                s3 = f"http://{host}:{port}"
                one = crawl(products, folder.parent, s3, servers, kind)
            print(f"{kind} {one['verdict']}".strip())
            found[kind or image] = one
    finally:
        server.stop()
    told: dict[str, Any] = {**found} if options.browser else found[image]
    told["mb"] = {name: size_mb(root / name) for name in ("", "opt/venv", "app")}
    packages = (root / "opt/venv/lib/python3.11/site-packages").glob("*.dist-info")
    told["packages"] = len(list(packages))
    if options.json:
        print(json.dumps(told))
    good = all(
        one["passed"]
        and one["read_only"]
        and one["objects"]
        and not one["status"]
        and (one["rendered"] or not options.browser)
        for one in found.values()
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
