"""A connection with TLS over memory buffers, so that its bytes are written at once, too."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import cached_property

from OpenSSL.crypto import FILETYPE_ASN1
from twisted.internet.ssl import Certificate

from scrapy_seine.engine.download.http.connection import Connection, Unanswered

#: Bytes that one TLS record holds, at most.
_RECORD = 1 << 14


class SecureConnection(Connection):
    """A connection to *host* with TLS.

    It resumes the *session* of an earlier connection to the same host and port, if the server still
    has it (RFC 8446, 2.2), and passes its own session to *learned*.
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
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=host, session=session
        )
        self._learned = learned
        self._handshake: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the handshake."""
        super().connection_made(transport)
        self._shake()

    @cached_property
    def certificate(self) -> Certificate | None:  # type: ignore[override]
        """The server's certificate."""
        plain = self.tls.getpeercert(binary_form=True)
        return Certificate.load(plain, FILETYPE_ASN1) if plain else None

    async def wait_ready(self) -> None:
        """Wait for the handshake.

        Raises:
            ssl.SSLError: it failed.
            Unanswered: the connection ended before that.
        """
        await self._handshake

    def _shake(self) -> None:
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
        except ssl.SSLError as error:
            self._flush()
            self._end_handshake(error)
        else:
            self._flush()
            self._end_handshake(None)

    def _end_handshake(self, error: Exception | None) -> None:
        if error is not None:
            self.abort()
        if self._handshake.done():
            return
        if error is None:
            self._handshake.set_result(None)
        else:
            self._handshake.set_exception(error)

    def write(self, data: bytes) -> None:
        """Encrypt and write bytes."""
        unsent = memoryview(data)
        while unsent:
            unsent = unsent[self.tls.write(unsent) :]
        self._flush()

    def _flush(self) -> None:
        if data := self._outgoing.read():
            self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        """Decrypt received bytes."""
        self._incoming.write(data)
        if not self._handshake.done():
            self._shake()
        if self._handshake.done() and not self.closed and (plain := self._plain()):
            self._pass_session_on()  # a server's tickets come before its first answer
            self.received(plain)

    def _pass_session_on(self) -> None:
        learned, self._learned = self._learned, None
        if learned is not None and (session := self.tls.session) is not None:
            learned(session)

    def _plain(self) -> bytes:
        parts: list[bytes] = []
        try:
            while part := self.tls.read(_RECORD):
                parts.append(part)
            self._end()  # the server closed its side
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
        """End the handshake, or the awaited answer."""
        self._end_handshake(
            Unanswered(str(exc or "closed within the TLS handshake"), may_be_seen=False)
        )
        super().connection_lost(exc)
