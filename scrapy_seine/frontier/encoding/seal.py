"""Signs requests, for a Redis that others can write to: a worker takes only what the fleet signed.

A signature is a keyed BLAKE2b (RFC 7693) of 16 bytes over the crawl's name, the first line of the
stored request (level, which is its priority, domain and job) and the encoded request. The encoded
request has the URL, method, body and scope, which determine its fingerprint, and the task's id. The
frontier's own id is not signed: Redis assigns it when the request enters, and an id leads to these
bytes only. Scripts move stored requests unchanged; code that rewrites one (a retry, a replay of
dead letters) signs it again.

A signature does not prevent a replay: others may write a signed request again. Then a page is
fetched again, at its own pace and with the same callback, and nothing else happens.

Four bytes of a key's hash name it, so that two keys can be in use while a fleet changes them.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import blake2b

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import UNSIGNED
from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import SEAL_BYTES, SEALED, VERSION, unknown_version
from scrapy_seine.frontier.model import Push, header_of

_ID_BYTES = 4
_MAC_BYTES = SEAL_BYTES - _ID_BYTES


@attrs.frozen(eq=False, repr=False)
class _Key(Value):
    id: bytes
    key: bytes = attrs.field(repr=False)

    @classmethod
    def of(cls, secret: str) -> _Key:
        data = secret.encode()
        key = blake2b(data, digest_size=32, person=b"seine-seal").digest()
        return cls(blake2b(data, digest_size=_ID_BYTES, person=b"seine-key-id").digest(), key)


class Seal:
    """Signs and checks the stored requests of one crawl; without a secret it does neither."""

    def __init__(self, crawl: str = "", secrets: Sequence[str] = ()) -> None:
        self._crawl = b"%d %s" % (len(crawl.encode()), crawl.encode())
        keys = [_Key.of(secret) for secret in secrets if secret != UNSIGNED]
        self._takes_unsigned = not keys or UNSIGNED in secrets
        self._signing_key = keys[0] if keys else None
        self._keys = {key.id: key for key in keys}

    @property
    def active(self) -> bool:
        """Whether requests are signed."""
        return self._signing_key is not None

    @property
    def name(self) -> str:
        """Name of the secret that signs here; it reveals nothing else of the secret."""
        return self._signing_key.id.hex() if self._signing_key is not None else UNSIGNED

    def reads(self, name: str) -> bool:
        """Whether requests signed with the secret of this name are accepted here."""
        if self._signing_key is None or (name == UNSIGNED and self._takes_unsigned):
            return True
        return any(key.hex() == name for key in self._keys)

    def close(self, header: bytes, blob: bytes) -> bytes:
        """Sign an encoded request that is to be stored under *header*."""
        if self._signing_key is None:
            return blob
        data = blob[1:]
        return SEALED + self._signing_key.id + self._mac(self._signing_key, header, data) + data

    def push(self, push: Push) -> Push:
        """Sign a push."""
        if self._signing_key is None:
            return push
        header = header_of(push.priority, push.domain, push.job)
        return attrs.evolve(push, blob=self.close(header, push.blob))

    def check(self, stored: bytes) -> None:
        """Accept what the fleet signed for this crawl; without a secret, everything.

        Raises:
            DecodeError: it is not signed, or signed with a secret that this process does not have.
        """
        if self._signing_key is None:
            return
        header, _, blob = stored.partition(b"\n")
        if blob[:1] == VERSION:
            if self._takes_unsigned:
                return
            raise DecodeError("the stored request is not signed, and SEINE_SECRET is set")
        if blob[:1] != SEALED or len(blob) <= SEAL_BYTES:
            raise unknown_version(blob)
        key = self._keys.get(blob[1 : 1 + _ID_BYTES])
        if key is None:
            raise DecodeError("the stored request was signed with a secret that is not known here")
        signature = blob[1 + _ID_BYTES : 1 + SEAL_BYTES]
        if not hmac.compare_digest(signature, self._mac(key, header, blob[1 + SEAL_BYTES :])):
            raise DecodeError("the signature of the stored request is wrong")

    def _mac(self, key: _Key, header: bytes, data: bytes) -> bytes:
        # Neither the name's length nor a header holds a line break: two requests never give one
        # text.
        text = b"%b\n%b\n%b" % (self._crawl, header, data)
        return blake2b(text, digest_size=_MAC_BYTES, key=key.key).digest()


NO_SEAL = Seal()


def signer_of(stored: bytes | None) -> str:
    """Return the name of the secret that a stored request is signed with; '' if it has none.

    >>> header = header_of(0, "shop.example", "")
    >>> seal = Seal("crawl", ["secret"])
    >>> signer_of(header + b"\\n" + seal.close(header, VERSION + b"...")) == seal.name
    True
    >>> signer_of(header + b"\\n" + VERSION + b"..."), signer_of(b"junk")
    ('nothing', '')
    """
    _, _, blob = (stored or b"").partition(b"\n")
    if blob[:1] == VERSION:
        return UNSIGNED
    return blob[1 : 1 + _ID_BYTES].hex() if blob[:1] == SEALED else ""
