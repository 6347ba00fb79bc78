"""Packs stored requests: each is deflated with a dictionary made of earlier requests.

Requests of a crawl are alike: the same callbacks, fields and sites. Packing reduces a request to an
eighth of its bytes. A packed request is a version byte, the dictionary's id and raw deflate (RFC
1951). The id is a hash of the dictionary's bytes, so that an id means the same dictionary to every
worker, whatever Redis lost or somebody else wrote there.

The signature (`seal`) covers the unpacked request, so that a changed dictionary only produces
requests with wrong signatures. The size is limited while unpacking.
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
#: Dictionaries of a crawl, or of a partition, at most: a worker that joins tries all of them.
MOST_DICTIONARIES = 16
#: Largest share of the previous size at which one more request in a dictionary is worth it.
_GAIN = 0.98
_ID = re.compile(r"[0-9a-f]{8}")
#: zlib: raw deflate, its fastest level, a window of 2 KiB and little memory. Packing a request
#: starts by copying a compressor's state, which takes longer than packing, and grows with its size.
_LEVEL, _WINDOW, _MEMORY = 1, -11, 2
#: Bytes of a packed request before the deflated data: the version and the dictionary's id.
START = 1 + DICTIONARY_ID_BYTES


def is_packed(stored: bytes) -> bool:
    """Whether a stored request, which begins with its header, is packed.

    >>> is_packed(b"4000 a.example\\n\\x03"), is_packed(b"4000 a.example\\n\\x01")
    (True, False)
    """
    start = stored.find(b"\n") + 1
    return stored[start : start + 1] == PACKED and start > 0


class Dictionary:
    """Bytes that requests have in common, and that they are packed with."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.id = blake2b(text, digest_size=DICTIONARY_ID_BYTES, person=b"seine-texts").digest()
        self._prefix = PACKED + self.id
        # Packing and unpacking copy these, because a copy is cheaper than loading the text again.
        self._deflate = zlib.compressobj(
            _LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, text
        )
        self._inflate = zlib.decompressobj(_WINDOW, text)

    def pack(self, blob: bytes) -> bytes:
        """Pack an encoded request; returns it unchanged if it is large or packing does not shorten
        it."""
        if len(blob) > MOST_PACKED:
            return blob
        deflate = self._deflate.copy()
        data = self._prefix + deflate.compress(blob) + deflate.flush()
        return data if len(data) < len(blob) else blob

    def unpack(self, data: bytes) -> bytes:
        """Return the encoded request that was packed with this dictionary.

        Raises:
            DecodeError: it is damaged, truncated, or unpacks to more than is ever packed.
        """
        inflate = self._inflate.copy()
        try:
            blob = inflate.decompress(data[START:], MOST_PACKED + 1)
        except zlib.error as error:
            raise DecodeError(f"packed request is damaged: {error}") from None
        if len(blob) > MOST_PACKED or not inflate.eof or inflate.unused_data:
            raise DecodeError("packed request is damaged, cut off or too large")
        return blob

    def size(self, blobs: Iterable[bytes]) -> int:
        """Total packed size of encoded requests, bytes."""
        return sum(len(self.pack(blob)) for blob in blobs)


def read_dictionary(id_: bytes | None, text: object) -> Dictionary | None:
    """Return the dictionary that Redis has under an id; None where the text has another id."""
    if not isinstance(text, bytes) or not 0 < len(text) <= MOST_DICTIONARY:
        return None
    dictionary = Dictionary(text)
    return dictionary if dictionary.id == id_ else None


def read_id(text: str) -> bytes | None:
    """Read an id as Redis stores it; None where it is invalid.

    >>> read_id("00ff10aa"), read_id("ff")
    (b'\\x00\\xff\\x10\\xaa', None)
    """
    return bytes.fromhex(text) if _ID.fullmatch(text) else None


def made_of(blobs: Sequence[bytes], others: Sequence[bytes]) -> Dictionary | None:
    """Make a dictionary of some of *blobs* that packs the *others* smallest.

    A request that shares nothing with the others is left out. It takes some 2 ms. Returns None
    where no dictionary helps.
    """
    best, best_size = None, sum(map(len, others))
    while True:
        text = b"" if best is None else best.text
        texts = [text + blob for blob in blobs if blob not in text]
        longer = [Dictionary(candidate) for candidate in texts if len(candidate) <= MOST_DICTIONARY]
        sized = ((candidate.size(others), candidate) for candidate in longer)
        size, candidate_best = min(sized, key=itemgetter(0), default=(best_size, None))
        if candidate_best is None or size > _GAIN * best_size:
            return best
        best, best_size = candidate_best, size
