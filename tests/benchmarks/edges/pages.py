"""Faults of sites, seeds, middlewares, callbacks and pipelines: all beside good pages, in a crawl.

Each is one page of a host of its own, and says what that page must come to.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from tests.benchmarks.edges.judge import Fate
from tests.benchmarks.edges.scene import Scene
from tests.benchmarks.edges.site import Answer, Thing, closed_port, listing, page, raw, reset, slow

_NO_CHARSET = {"Content-Type": "text/html"}
_WHOLE = Thing("whole", "1.00").html.encode()
_SIZED = b"Content-Length: %d\r\n\r\n%b" % (len(_WHOLE), _WHOLE)
_OPEN = b"<html><body>" + b"".join(b"<p>%x</p>" % (n * n * n) for n in range(2000))
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@attrs.frozen
class PageFault:
    """One page that is wrong, or is asked for in a wrong way."""

    name: str
    fate: Fate
    answer: Answer | None = None
    """None: the page is a good product."""
    path: str = "/p/1"
    meta: Mapping[str, Any] = attrs.Factory(dict)
    """What the seed's meta has besides."""
    seed: Mapping[str, Any] = attrs.Factory(dict)
    """What the seed has besides."""
    robots: Answer | None = None


def _raise(where: str, fate: Fate = "dead", answer: Answer | None = None) -> PageFault:
    return PageFault(f"1 {where} raises", fate, answer, f"/raise/{where}/1")


def _meta(fate: Fate, **meta: Any) -> PageFault:
    ((name, value),) = meta.items()
    return PageFault(f"1 seed with {name}={value!r}", fate, meta=meta)


FAULTS: Sequence[PageFault] = (
    _meta("said", download_timeout="30"),
    _meta("said", lane="tsl"),
    _meta("said", retry_count="x"),
    _meta("said", depth="deep"),
    _meta("said", proxy_pool=7),
    _meta("said", delay="soon"),
    _meta("said", not_before="later"),
    _meta("said", download_maxsize="big"),
    _meta("said", handle_httpstatus_list=5),
    _meta("said", expect=5),
    _meta("said", render="fast"),
    PageFault(
        "1 seed with max_retries='three' on a page that fails",
        "dead",
        page("no", 500),
        meta={"max_retries": "three"},
    ),
    PageFault("1 seed with credentials in its address", "said", path="@/p/1"),
    PageFault("1 seed with a header of two lines", "said", seed={"headers": {"X-A": "1\r\nB: 2"}}),
    PageFault("1 seed with an unknown method", "said", seed={"method": "B R E W"}),
    _raise("outer-request"),
    _raise("outer-response"),
    _raise("inner-request"),
    _raise("inner-response"),
    _raise("outer-exception", answer=reset),
    _raise("inner-exception", answer=reset),
    _raise("spider-input"),
    _raise("spider-output"),
    _raise("pipeline"),
    _raise("drop", "said"),
    PageFault("1 page without its key elements", "dead", meta={"expect": ['id="nowhere"']}),
    PageFault(
        "1 CAPTCHA with HTTP 200 and a product's data",
        "dead",
        page(Thing("wrong", "1.00").html, headers={"cf-mitigated": "challenge"}),
        meta={"max_retries": 0},
    ),
    PageFault("1 connection reset", "dead", reset),
    PageFault("1 answer that is no HTTP", "dead", raw(b"garbage garbage\r\n\r\n")),
    PageFault("1 answer of nothing", "dead", raw(b"")),
    PageFault(
        "1 answer that the connection's end closes",
        "read",
        raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + _WHOLE),
    ),
    PageFault(
        "1 page in UTF-16", "read", page(_WHOLE.decode().encode("utf-16"), headers=_NO_CHARSET)
    ),
    PageFault("1 page with some NULs", "read", page(_WHOLE.replace(b"<body>", b"<body>\0\0"))),
    PageFault(
        "1 interim answers before the page's own",
        "read",
        raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3 + _HEAD + _SIZED),
    ),
    PageFault(
        "1 chunks with extensions and a trailer",
        "read",
        raw(
            _HEAD
            + b"Transfer-Encoding: chunked\r\n\r\n%x;a=b\r\n%b\r\n" % (len(_WHOLE), _WHOLE)
            + b"0\r\nX-T: 1\r\n\r\n"
        ),
    ),
    PageFault(
        "1 two lengths",
        "dead",
        raw(_HEAD + b"Content-Length: 5\r\n" + _SIZED),
    ),
    PageFault(
        "1 packed bytes under the name of a page",
        "dead",
        page(bytes(range(256)) * 40, headers=_NO_CHARSET),
    ),
    PageFault("1 answer cut off", "dead", raw(_HEAD + b"Content-Length: 5000\r\n\r\n<html>")),
    PageFault(
        "1 broken chunks",
        "dead",
        raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n<html>\r\n"),
    ),
    PageFault(
        "1 gzip that is none",
        "dead",
        page("<html>plain</html>", headers={"Content-Encoding": "gzip"}),
    ),
    PageFault(
        "1 packed page that is cut off",
        "dead",
        page(gzip.compress(_OPEN)[:3000], headers={"Content-Encoding": "gzip"}),
    ),
    PageFault("1 head without end", "dead", raw(_HEAD + b"X: " + b"y" * 400_000)),
    PageFault("1 answer later than the limit", "dead", slow(page("late"), 7)),
    PageFault("1 body over the limit", "dead", page(b"x" * 3_000_000)),
    PageFault("1 status 500 for ever", "dead", page("no", 500)),
    PageFault("1 status 503 with Retry-After", "dead", page("no", 503, {"Retry-After": "1"})),
    PageFault("1 status 999", "said", raw(b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n")),
    PageFault("1 status 404", "ignored", page("gone", 404)),
    PageFault("1 status 410", "ignored", page("gone", 410)),
    PageFault("1 status 418", "ignored", page("tea", 418)),
    PageFault("1 redirect to itself", "dead", page("", 302, {"Location": "/p/1"})),
    PageFault("1 redirect to nowhere", "ignored", page("", 302)),
    PageFault("1 empty page", "said", page("")),
    PageFault("1 no HTML", "said", page(b"%PDF-1.4", headers={"Content-Type": "application/pdf"})),
    PageFault("1 forbidden by robots.txt", "ignored", robots=page("User-agent: *\nDisallow: /")),
    PageFault("1 robots.txt that fails", "dead", robots=page("no", 500)),
    PageFault("10 lane that no worker has", "dead", meta={"lane": "browser"}),
)

_SEEDS = "1 seed"
_SITE = "from crawler.extract.site import Site\n\n\nclass Shop(Site):\n    domains = ({host!r},)\n"
#: Site files that cannot be used; the pages of their hosts are read by the default parser.
BROKEN_FILES: Mapping[str, str] = {
    "11 site file with a syntax error": _SITE + "    delay_ms = = 5\n",
    "11 site file with an import error": "import nosuchmodule\n" + _SITE,
    "11 site file that raises": _SITE + "\n\nraise RuntimeError('no')\n",
    "11 site file with a text for a number": _SITE + "    delay_ms = 'slow'\n",
    "11 site file that ends the process": "raise SystemExit\n" + _SITE,
    "14 site file that requires no field of a product": _SITE + "    required = ('nosuch',)\n",
}
_RAISES = _SITE + "\n    def extract(self, page):\n        raise ValueError('no')\n"


def seeds(scene: Scene) -> None:
    """Let a fleet take every wrong seed, a good one behind each."""
    found = [_seed_of(scene, fault) for fault in FAULTS if fault.name.startswith(_SEEDS)]
    _crawl(scene, found)


def pages(scene: Scene) -> None:
    """Let a fleet crawl everything else that is wrong at once."""
    found = [_seed_of(scene, fault) for fault in FAULTS if not fault.name.startswith(_SEEDS)]
    _crawl(scene, found + _files(scene) + _addresses(scene))


def _crawl(scene: Scene, wrong: Sequence[str]) -> None:
    scene.settings |= {"RETRY_TIMES": 1, "DOWNLOAD_MAXSIZE": 1_000_000}
    _, good = scene.shelf("good pages beside", 60, job_id="good")
    scene.seed(*wrong, good)
    scene.start()
    scene.wait_end(scene.name)
    scene.exits(scene.name)
    scene.judge()


def _seed_of(scene: Scene, fault: PageFault) -> str:
    host, name = scene.site.host(), scene.fault(fault.name)
    # Each hop of a redirect ends a request of the job whose page is yet to come.
    job = "" if "redirect" in name else f"job-{len(scene.faults)}"
    path = fault.path.lstrip("@")
    url = f"http://{host}{path}"
    if fault.answer is None:
        scene.thing(name, host, path, 1, fault.fate, job=job)
    else:
        scene.site.pages[url] = fault.answer
        scene.expect(name, url, fault.fate, job=job)
    if fault.robots is not None:
        scene.site.pages[f"http://{host}/robots.txt"] = fault.robots
    meta = {"site_id": scene.name, **({"job_id": job} if job else {}), **fault.meta}
    asked = url if fault.path == path else url.replace("://", "://user:pw@")
    return json.dumps({"url": asked, "meta": meta, **fault.seed})


def _files(scene: Scene) -> list[str]:
    """Write broken site files; a method that raises makes dead letters, the rest costs nothing."""
    folder, seeds = scene.project / "spiders" / "sites", []
    for number, (name, text) in enumerate(BROKEN_FILES.items()):
        host, seed = scene.shelf(scene.fault(name), 3)
        (folder / f"broken{number}.py").write_text(text.format(host=host))
        seeds.append(seed)
    (scene.project / "spiders" / "mine.py").write_text("class :\n")
    scene.fault("11 spider file with a syntax error")
    host = scene.site.host()
    (folder / "raises.py").write_text(_RAISES.format(host=host))
    name = scene.fault("1 site file whose method raises")
    scene.thing(name, host, "/p/1", 1, "dead", job="raises")
    seeds.append(scene.seed_of(f"http://{host}/p/1", job_id="raises"))
    return seeds


def _addresses(scene: Scene) -> list[str]:
    """Name hosts that do not answer, and follow a page's links to what is not there."""
    refused, nowhere = f"http://127.0.0.1:{closed_port()}/p/1", "http://nosuch.invalid/p/1"
    scene.expect(scene.fault("1 connection refused"), refused, "dead", job="refused")
    scene.expect(scene.fault("1 host without an address"), nowhere, "dead", job="nowhere")
    host, name = scene.site.host(), scene.fault("1 listing with dead links")
    scene.site.pages[f"http://{host}/all"] = listing(["/p/1", "/p/2", "/p/3"])
    scene.expect(name, f"http://{host}/all", "read", job="links")
    scene.thing(name, host, "/p/1", 1, job="links")
    scene.site.pages[f"http://{host}/p/3"] = page("no", 500)
    scene.expect(name, f"http://{host}/p/2", "ignored", job="links")
    scene.expect(name, f"http://{host}/p/3", "dead", job="links")
    jobs = {refused: "refused", nowhere: "nowhere", f"http://{host}/all": "links"}
    return [scene.seed_of(url, job_id=job) for url, job in jobs.items()]
