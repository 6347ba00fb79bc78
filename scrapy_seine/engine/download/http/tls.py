"""A connection with TLS, over memory: so its bytes, too, leave at once."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import cached_property

from OpenSSL.crypto import FILETYPE_ASN1
from twisted.internet.ssl import Certificate

from scrapy_seine.engine.download.http.connection import Connection, Unanswered

#: Most bytes that one TLS record holds.
_RECORD = 1 << 14


class SecureConnection(Connection):
    """A connection to *host* with TLS.

    It resumes the *session* of an earlier connection to the same host and port, where the server
    still knows that one (RFC 8446, 2.2), and tells *learned* of its own.
    """

    def __init__(
        self,
        address: str,
        context: ssl.SSLContext,
        host: str,
        session: ssl.SSLSession | None = None,
        learned: Callable[[ssl.SSLSession], None] | None = None,
    ) -> None:
        super().__init__(address)
        self._come, self._go = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._come, self._go, server_hostname=host, session=session)
        self._learned = learned
        self._shaken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        super().connection_made(transport)
        self._shake()

    @cached_property
    def certificate(self) -> Certificate | None:  # type: ignore[override]
        """The server's."""
        plain = self.tls.getpeercert(binary_form=True)
        return Certificate.load(plain, FILETYPE_ASN1) if plain else None

    async def ready(self) -> None:
        """Wait for the handshake.

        Raises:
            ssl.SSLError: it failed.
            Unanswered: the connection ended before.
        """
        await self._shaken

    def _shake(self) -> None:
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
        except ssl.SSLError as error:
            self._flush()
            self._shaken_by(error)
        else:
            self._flush()
            self._shaken_by(None)

    def _shaken_by(self, error: Exception | None) -> None:
        if error is not None:
            self.abort()
        if self._shaken.done():
            return
        if error is None:
            self._shaken.set_result(None)
        else:
            self._shaken.set_exception(error)

    def write(self, data: bytes) -> None:
        """Encrypt and send."""
        left = memoryview(data)
        while left:
            left = left[self.tls.write(left) :]
        self._flush()

    def _flush(self) -> None:
        if data := self._go.read():
            self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        """Decrypt and take what came."""
        self._come.write(data)
        if not self._shaken.done():
            self._shake()
        if self._shaken.done() and not self.closed and (plain := self._plain()):
            self._tell_session()  # a server's tickets come before its first answer
            self.received(plain)

    def _tell_session(self) -> None:
        learned, self._learned = self._learned, None
        if learned is not None and (session := self.tls.session) is not None:
            learned(session)

    def _plain(self) -> bytes:
        parts: list[bytes] = []
        try:
            while part := self.tls.read(_RECORD):
                parts.append(part)
            self._end()  # the other end says that nothing follows
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            self._end()
        self._flush()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _end(self) -> None:
        self.closed = True
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Whatever was awaited does not come any more."""
        self._shaken_by(Unanswered(str(exc or "closed within the TLS handshake"), sent=False))
        super().connection_lost(exc)
