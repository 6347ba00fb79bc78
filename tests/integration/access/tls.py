"""A TLS server that tells what a client is: JA3, JA4 and the start of its HTTP/2."""

from __future__ import annotations

import hashlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

_GREASE = {0x0A0A + 0x1010 * i for i in range(16)}


@attrs.define
class Hello:
    """What a ClientHello says, and what came after it."""

    version: int
    ciphers: list[int]
    extensions: list[int]
    groups: list[int]
    formats: list[int]
    signatures: list[int]
    alpn: list[str]
    versions: list[int]
    sni: bool
    http2: dict[int, int] = attrs.Factory(dict)
    """HTTP/2 SETTINGS by number."""
    window: int = 0
    """First WINDOW_UPDATE of the connection."""

    @property
    def ja3(self) -> str:
        """JA3, its text before the hash."""
        parts = (
            [self.version],
            _plain(self.ciphers),
            _plain(self.extensions),
            _plain(self.groups),
            self.formats,
        )
        return ",".join("-".join(map(str, part)) for part in parts)

    @property
    def ja4(self) -> str:
        """JA4 of TLS over TCP."""
        ciphers, extensions = _plain(self.ciphers), _plain(self.extensions)
        best = max(_plain(self.versions) or [self.version])
        version = {0x0304: "13", 0x0303: "12"}.get(best, "00")
        alpn = self.alpn[0] if self.alpn else "00"
        start = f"t{version}{'d' if self.sni else 'i'}{len(ciphers):02d}{len(extensions):02d}"
        hashed = sorted(e for e in extensions if e not in (0, 16))
        tail = ",".join(f"{e:04x}" for e in hashed)
        if self.signatures:
            tail += "_" + ",".join(f"{s:04x}" for s in _plain(self.signatures))
        return "_".join(
            [
                start + alpn[0] + alpn[-1],
                _hash(",".join(f"{c:04x}" for c in sorted(ciphers))),
                _hash(tail),
            ]
        )


def _plain(values: list[int]) -> list[int]:
    return [v for v in values if v not in _GREASE]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _list(data: bytes, *, skip: int = 2) -> list[int]:
    return [v for (v,) in struct.iter_unpack(">H", data[skip:])]


def parse_hello(record: bytes) -> Hello:
    """Read a TLS record that holds a ClientHello."""
    body = record[9:]
    version = int.from_bytes(body[:2])
    at = 34
    at += 1 + body[at]
    size = int.from_bytes(body[at : at + 2])
    ciphers = _list(body[at : at + 2 + size])
    at += 2 + size
    at += 1 + body[at] + 2
    found: dict[int, bytes] = {}
    while at + 4 <= len(body):
        kind, size = struct.unpack(">HH", body[at : at + 4])
        found[kind] = body[at + 4 : at + 4 + size]
        at += 4 + size
    names, alpn = found.get(16, b"")[2:], []
    while names:
        alpn.append(names[1 : 1 + names[0]].decode())
        names = names[1 + names[0] :]
    return Hello(
        version,
        ciphers,
        list(found),
        _list(found.get(10, b"")),
        list(found.get(11, b"")[1:]),
        _list(found.get(13, b"")),
        alpn,
        _list(found.get(43, b""), skip=1),
        0 in found,
    )


def _frames(stream: ssl.SSLSocket, hello: Hello) -> None:
    """Read the client's first HTTP/2 frames, answer its request."""
    data, stream_id = b"", 0
    while not stream_id:
        part = stream.recv(65536)
        if not part:
            raise ConnectionResetError("the client left")
        data += part
        if len(data) < 24:
            continue
        rest = data[24:]
        while len(rest) >= 9 and len(rest) >= 9 + (size := int.from_bytes(rest[:3])):
            kind, payload = rest[3], rest[9 : 9 + size]
            if kind == 4 and not rest[4] & 1:
                hello.http2 = dict(struct.iter_unpack(">HI", payload))
            elif kind == 8 and not int.from_bytes(rest[5:9]):
                hello.window = int.from_bytes(payload)
            elif kind == 1:
                stream_id = int.from_bytes(rest[5:9])
            rest = rest[9 + size :]
    answer = b"\x88"  # :status 200, from HPACK's static table
    stream.sendall(b"\0\0\0\x04\0\0\0\0\0" + b"\0\0\0\x04\x01\0\0\0\0")
    stream.sendall(len(answer).to_bytes(3) + b"\x01\x05" + stream_id.to_bytes(4) + answer)


def _serve(raw: socket.socket, context: ssl.SSLContext, seen: list[Hello]) -> None:
    record = raw.recv(5, socket.MSG_PEEK)
    size = 5 + int.from_bytes(record[3:5])
    record = raw.recv(size, socket.MSG_PEEK | socket.MSG_WAITALL)
    hello = parse_hello(record)
    seen.append(hello)
    with context.wrap_socket(raw, server_side=True) as stream:
        stream.settimeout(10)
        if stream.selected_alpn_protocol() == "h2":
            _frames(stream, hello)
        else:
            stream.recv(65536)
            stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        stream.recv(65536)  # until the client is done


@contextmanager
def serve_tls(certificate: Path, key: Path) -> Iterator[tuple[int, list[Hello]]]:
    """Serve on 127.0.0.1; gives the port and the hellos so far."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    seen: list[Hello] = []

    def one(raw: socket.socket) -> None:
        try:
            raw.settimeout(10)
            _serve(raw, context, seen)
        except OSError:
            pass  # the client left; what it said is noted
        finally:
            raw.close()

    def accept() -> None:
        while True:
            try:
                raw, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(raw,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()[1], seen
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)
