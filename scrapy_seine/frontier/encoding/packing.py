"""Stored requests without what they share: each is deflated with some earlier ones as a dictionary.

Requests of a crawl are alike: the same callbacks, fields and sites. Packed, one takes an eighth of
its bytes. A packed request is a version byte, the dictionary's id and raw deflate (RFC 1951). An id
is a hash of the dictionary's bytes, so that no two workers mean different ones by it, whatever
Redis has forgotten or whoever wrote there.

Packing is outside of the signature (`seal`): what is checked is what comes out, so that who changes
a dictionary changes requests that nobody signed. What comes out is bounded while it is unpacked.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import itemgetter

from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import DICTIONARY_ID_BYTES, PACKED

#: Bytes of a request that is packed, at most: a larger one shares little, and takes long.
MOST_PACKED = 8192
#: Bytes of a dictionary, at most: deflate looks back over 2 KiB, and the request takes some of it.
MOST_DICTIONARY = 1536
#: Dictionaries of a crawl, or of a partition, at most: all that a worker that joins has to try.
MOST_DICTIONARIES = 16
#: What a further request in a dictionary leaves of the bytes that others take, at most.
_GAIN = 0.98
_ID = re.compile(r"[0-9a-f]{8}")
#: zlib: raw deflate, its fastest level, a window of 2 KiB and little memory. Each request begins
#: with a copy of a compressor's state, which takes longer than packing, and longer if it is larger.
_LEVEL, _WINDOW, _MEMORY = 1, -11, 2
#: Bytes of a packed request in front of what is deflated: the version and the dictionary's id.
START = 1 + DICTIONARY_ID_BYTES


def is_packed(stored: bytes) -> bool:
    """Whether a stored request, which begins with its header, is packed.

    >>> is_packed(b"4000 a.example\\n\\x03"), is_packed(b"4000 a.example\\n\\x01")
    (True, False)
    """
    at = stored.find(b"\n") + 1
    return stored[at : at + 1] == PACKED and at > 0


class Dictionary:
    """What requests are packed with: bytes that they have in common."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.id = blake2b(text, digest_size=DICTIONARY_ID_BYTES, person=b"seine-texts").digest()
        self._prefix = PACKED + self.id
        # Copies of these are what packs and unpacks: that is cheaper than to begin with the text.
        self._deflate = zlib.compressobj(
            _LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, text
        )
        self._inflate = zlib.decompressobj(_WINDOW, text)

    def pack(self, blob: bytes) -> bytes:
        """Pack an encoded request; it stays as it is where that is no longer, or it is large."""
        if len(blob) > MOST_PACKED:
            return blob
        deflate = self._deflate.copy()
        packed = self._prefix + deflate.compress(blob) + deflate.flush()
        return packed if len(packed) < len(blob) else blob

    def unpack(self, packed: bytes) -> bytes:
        """Return the encoded request that was packed with this dictionary.

        Raises:
            DecodeError: it is damaged, cut off, or becomes larger than what is ever packed.
        """
        inflate = self._inflate.copy()
        try:
            blob = inflate.decompress(packed[START:], MOST_PACKED + 1)
        except zlib.error as error:
            raise DecodeError(f"packed request is damaged: {error}") from None
        if len(blob) > MOST_PACKED or not inflate.eof or inflate.unused_data:
            raise DecodeError("packed request is damaged, cut off or too large")
        return blob

    def size(self, blobs: Iterable[bytes]) -> int:
        """Bytes that encoded requests take with it."""
        return sum(len(self.pack(blob)) for blob in blobs)


def read_dictionary(id_: bytes | None, text: object) -> Dictionary | None:
    """Return the dictionary that was kept in Redis under an id; None where it is another's text."""
    if not isinstance(text, bytes) or not 0 < len(text) <= MOST_DICTIONARY:
        return None
    found = Dictionary(text)
    return found if found.id == id_ else None


def read_id(text: str) -> bytes | None:
    """Read an id as Redis keeps it; None where it is none.

    >>> read_id("00ff10aa"), read_id("ff")
    (b'\\x00\\xff\\x10\\xaa', None)
    """
    return bytes.fromhex(text) if _ID.fullmatch(text) else None


def made_of(blobs: Sequence[bytes], others: Sequence[bytes]) -> Dictionary | None:
    """Make a dictionary of some encoded requests, with which the *others* take least.

    One that has nothing in common with the others does not enter. It takes some 2 ms.
    Returns None where none of them is of use.
    """
    made, least = None, sum(map(len, others))
    while True:
        text = b"" if made is None else made.text
        texts = [text + blob for blob in blobs if blob not in text]
        longer = [Dictionary(one) for one in texts if len(one) <= MOST_DICTIONARY]
        sized = ((one.size(others), one) for one in longer)
        size, found = min(sized, key=itemgetter(0), default=(least, None))
        if found is None or size > _GAIN * least:
            return made
        made, least = found, size
