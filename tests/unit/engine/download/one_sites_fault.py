"""Say whom failures are blamed on: runs in a network of its own, where it is the name server.

`good.example` has a public address, `bad.example` an own name server that fails, `six.example` an
IPv6 address and nothing else. Below the good name there is none. Prints JSON.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Awaitable
from urllib.parse import urlparse

from twisted.internet import asyncioreactor

NOERROR, SERVFAIL, NXDOMAIN = 0, 2, 3
ADDRESSES = {("good.example", 1): ["93.184.216.34"], ("six.example", 28): ["2001:4860::8"]}
SERVER = {"answers": True, "silent": False}


def serve(server: socket.socket) -> None:
    while True:
        query, client = server.recvfrom(4096)
        if SERVER["silent"]:
            continue
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += 1 + query[at]
        name, kind = ".".join(labels).lower(), struct.unpack_from("!H", query, at + 1)[0]
        found = ADDRESSES.get((name, kind), [])
        if not SERVER["answers"] or name == "bad.example":
            code, found = SERVFAIL, []
        else:
            code = NOERROR if name in {known for known, _ in ADDRESSES} else NXDOMAIN
        head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(found), 0, 0)
        answer = b""
        for address in found:
            data = ipaddress.ip_address(address).packed
            answer += struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(data)) + data
        server.sendto(head + query[12 : at + 5] + answer, client)


async def blamed(download: Awaitable[object]) -> str:
    """Whether a download's failure is this machine's."""
    from scrapy_seine.engine.download.own_faults import own_fault

    try:
        await download
    except Exception as error:
        return "machine" if own_fault(error) else "site"
    return "nobody"


async def main() -> dict[str, str]:
    from scrapy_seine.engine.download.http import other_names
    from scrapy_seine.engine.download.http.pool import Pool
    from scrapy_seine.engine.download.http.resolve import addresses_of

    other_names._RESULT_S = 0.0
    pool = Pool(1, lambda: None)  # type: ignore[arg-type,return-value]

    def connect() -> Awaitable[object]:
        return pool.connect(urlparse("http://six.example/"), 5, list)

    told = {"only one name": await blamed(addresses_of("bad.example"))}
    told["a good name"] = await blamed(addresses_of("good.example"))
    told["one of two names"] = await blamed(addresses_of("bad.example"))
    SERVER["answers"] = False
    told["no name server"] = await blamed(addresses_of("bad.example"))
    SERVER["answers"] = True
    told["IPv6 only, no network"] = await blamed(connect())
    route = ("route", "add", "default", "dev", "lo")
    routed = await asyncio.create_subprocess_exec("ip", *route)
    assert await routed.wait() == 0
    told["IPv6 only, IPv4 network"] = await blamed(connect())
    pool.close()
    return told


def own_network() -> asyncio.AbstractEventLoop:
    """Be the name server of this network; returns the reactor's loop."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 53))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    asyncioreactor.install(loop)
    from twisted.internet import reactor

    reactor.startRunning()  # type: ignore[attr-defined]
    return loop


if __name__ == "__main__":
    print(json.dumps(own_network().run_until_complete(main())), flush=True)
    os._exit(0)  # the reactor's threads would be waited for
