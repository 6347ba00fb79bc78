"""A site that answers each path with bytes that are written down, TLS or not."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from tests.helpers import patient

#: Close the connection there; with a reset, where it is the second.
CLOSE, RESET = "close", "reset"
#: A barrier waits for the other path that has it.
Step = bytes | float | str | threading.Barrier


@attrs.define
class Site:
    """What was asked, and where."""

    base: str
    asked: list[tuple[int, bytes]] = attrs.Factory(list)
    """Number of the connection and the request, in order."""
    met: list[ssl.SSLSocket] = attrs.Factory(list)
    resumed: list[bool] = attrs.Factory(list)
    """Whether the TLS session of each connection was an earlier one's."""

    @property
    def connections(self) -> list[int]:
        """The connection of each request."""
        return [number for number, _ in self.asked]

    @property
    def paths(self) -> list[str]:
        """The path of each request."""
        return [request.split(b" ")[1].decode() for _, request in self.asked]


@contextlib.contextmanager
def raw_site(
    answers: Mapping[str, Sequence[Step]],
    *,
    certificate: tuple[Path, Path] | None = None,
    host: str = "127.0.0.1",
    forgets: bool = False,
) -> Iterator[Site]:
    """Serve on a free port; a path's steps are bytes to send, what to wait for, or an end.

    A path that is asked for the second time is looked for with a `+` behind it first. A site that
    *forgets* resumes no TLS session.
    """
    context = _context(certificate)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        name = f"[{host}]" if ":" in host else host
        scheme = "https" if context else "http"
        site = Site(f"{scheme}://{name}:{listener.getsockname()[1]}")

        def accept() -> None:
            number = 0
            while True:
                try:
                    raw, _ = listener.accept()
                except OSError:
                    return
                greets = _context(certificate) if forgets else context
                arguments = (raw, number, site, answers, greets)
                threading.Thread(target=_serve, args=arguments, daemon=True).start()
                number += 1

        threading.Thread(target=accept, daemon=True).start()
        yield site
        listener.shutdown(socket.SHUT_RDWR)


def _context(certificate: tuple[Path, Path] | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def _serve(
    raw: socket.socket,
    number: int,
    site: Site,
    answers: Mapping[str, Sequence[Step]],
    context: ssl.SSLContext | None,
) -> None:
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        stack.enter_context(raw)
        raw.settimeout(patient(20))
        stream = raw
        if context is not None:
            stream = stack.enter_context(context.wrap_socket(raw, server_side=True))
            site.resumed.append(bool(stream.session_reused))
        while request := _request(stream):
            path = request.split(b" ")[1].decode()
            again = path in site.paths
            site.asked.append((number, request))
            for step in answers.get(path + "+" if again else path, answers.get(path, [CLOSE])):
                if isinstance(step, bytes):
                    stream.sendall(step)
                elif isinstance(step, str):
                    if step == RESET:
                        linger = (1).to_bytes(4, "little") + bytes(4)
                        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return
                elif isinstance(step, threading.Barrier):
                    step.wait(patient(20))
                else:
                    time.sleep(step)


def _request(stream: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (part := stream.recv(65536)):
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"Content-Length":
            while len(body) < int(value):
                body += stream.recv(65536)
    return head + b"\r\n\r\n" + body
