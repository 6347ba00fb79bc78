"""Runs the image that `.ci/image` built as Kubernetes would, and crawls a shop with it.

`python -m tests.benchmarks.image --json` starts the worker of the rendered manifests in the image's
files: read-only, as the manifests' user, without capabilities, with a /tmp of their size, the
secrets where they are mounted, the image's entry point and environment. It crawls the demo shop,
keeps the pages in a bucket (moto's S3), and is judged product by product. The last line is a JSON
object: the verdict, objects and bytes in the bucket, and the image's sizes. Needs root.
"""

from __future__ import annotations

import argparse
import json
import os
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
from crawler.demo.rows import stored
from crawler.demo.served import served
from crawler.stores import embedded
from crawler.stores.connect import blocking_client
from crawler.stores.embedded import Servers
from crawler.stores.migrations import migrate
from scrapy_seine.embedded.places import layout
from tests.helpers import server_folder
from tests.unit.manifests import Object, built, environment, pods

ROOT = Path(__file__).parents[2] / "build" / "image"
BUCKET = "pages"
SITE = "image"
_LIMIT_S = 300
#: Arguments: root, secrets, stores, user:group, then the program. Only the mounts of the manifests
#: can be written; a name space of its own ends them with the program.
_ENTER = """
set -eu
root=$1 secrets=$2 stores=$3 user=$4; shift 4
mount --bind "$root" "$root"
mkdir -p "$root/run/secrets/seine" "$root/mnt/redis" "$root/mnt/postgres"
mount -t tmpfs -o size=256m,mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind "$secrets" "$root/run/secrets/seine"
mount --bind "$stores/redis" "$root/mnt/redis"
mount --bind "$stores/postgres" "$root/mnt/postgres"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all \\
    chroot --userspec="$user" --groups= "$root" sh -c 'cd "$0" && exec "$@"' "$@"
"""


def image_settings() -> Mapping[str, Any]:
    """Return what the image says of how it is run.

    Raises:
        SystemExit: there is no image.
    """
    path = ROOT / "image.json"
    if not path.exists():
        sys.exit("there is no image: .ci/image builds one")
    found: Mapping[str, Any] = json.loads(path.read_text())["OCIv1"]["config"]
    return found


class Container:
    """The worker of the manifests, in the image's files."""

    def __init__(self, folder: Path, servers: Servers, given: Mapping[str, str]) -> None:
        objects = built("production")
        pod: Object = pods(objects)["worker"]["spec"]
        self.settings = image_settings()
        self.arguments: list[str] = pod["containers"][0]["args"]
        self.stop_s: float = pod["terminationGracePeriodSeconds"]
        user = pod["securityContext"]
        self.user = f"{user['runAsUser']}:{user['runAsGroup']}"
        image = dict(line.split("=", 1) for line in self.settings["Env"])
        self.env = {**image, **environment(objects, "worker"), **given}
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
        places = [os.path.realpath(ROOT / "root"), self.secrets, self.stores, self.user]
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


def crawl(products: int, folder: Path, s3: str, servers: Servers) -> dict[str, Any]:
    """Crawl the demo shop; returns what was found."""
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
        "SEINE_ARCHIVE": f"s3://{BUCKET}/{SITE}",
        "SEINE_KEEP_ALIVE": "0",
        "SEINE_METRICS_HOST": "127.0.0.1",
        "SEINE_METRICS_PORT": "0",
    }
    container = Container(folder, servers, given)
    refused = container.says("sh", "-c", "id -u; touch /app/x 2>&1; touch /tmp/x && echo tmp")
    with served(products=products) as shop, blocking_client(servers.redis_url) as redis:
        seed = {"url": shop.url, "meta": {"site_id": SITE}}
        redis.lpush(f"{container.env['SEINE_CRAWL']}:start_urls", json.dumps(seed))
        began = time.monotonic()
        with (folder / "worker.log").open("w") as log:
            status = container.run(out=log).wait(_LIMIT_S)
    verdict = judge(Site(products).products, stored(servers.database_url, SITE))
    objects = bucket.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {
        "status": status,
        "passed": verdict.passed,
        "verdict": verdict.line(time.monotonic() - began),
        "as": refused.split("\n")[0],
        "read_only": "Read-only file system" in refused and refused.endswith("tmp"),
        "objects": len(objects),
        "object_bytes": sum(one["Size"] for one in objects),
    }


def main() -> int:
    """Crawl and print; 1 where a product is missing or wrong, or something could be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    image_settings()
    root = Path(os.path.realpath(ROOT / "root"))
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        with server_folder() as folder:
            servers = embedded.start(folder)
            migrate(servers.database_url)
            found = crawl(options.products, folder.parent, f"http://{host}:{port}", servers)
            if found["status"]:
                print((folder.parent / "worker.log").read_text()[-3000:])
    finally:
        server.stop()
    found["mb"] = {name: size_mb(root / name) for name in ("", "opt/venv", "app")}
    found["packages"] = len(
        list((root / "opt/venv/lib/python3.11/site-packages").glob("*.dist-info"))
    )
    print(found["verdict"])
    if options.json:
        print(json.dumps(found))
    good = found["passed"] and found["read_only"] and found["objects"] and not found["status"]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
