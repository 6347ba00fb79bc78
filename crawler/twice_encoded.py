"""Text that a shop encoded as UTF-8 twice: `SiodÅ‚o` for `Siodło`, as after a database's import."""

from __future__ import annotations

import re

#: The bytes of the characters that a program read them as: those of Windows, or a byte's own.
_BYTE_OF = {
    ord(char): byte
    for byte, char in enumerate(bytes(range(0x80, 0xA0)).decode("cp1252", "replace"), 0x80)
    if char != "\ufffd"
}
#: The first two of the characters that one letter became.
_PAIR = re.compile(f"[\u00c2-\u00f4][\u0080-\u00bf{''.join(map(chr, _BYTE_OF))}]")
#: Signs that follow a word, so that a letter before one is no half of another letter: NESCAFÉ®.
_BEHIND_WORDS = frozenset("®™…”’»°".encode("cp1252"))
#: The first byte of signs and blanks, which hardly is a letter of a word (`Â`).
_OF_SIGNS = 0xC2


def encoded_once(text: str) -> str:
    """Return the text that was encoded twice; any other one as it is.

    >>> encoded_once("SiodÅ‚o"), encoded_once("Siodło"), encoded_once("NESCAFÉ®")
    ('Siodło', 'Siodło', 'NESCAFÉ®')
    """
    if text.isascii() or _PAIR.search(text) is None:
        return text
    try:
        decoded = text.translate(_BYTE_OF).encode("latin-1").decode()
    except UnicodeError:
        return text
    is_twice = any(map(_is_letter_of_two, decoded, [*decoded[1:], ""]))
    return decoded if is_twice else text


def _is_letter_of_two(char: str, following: str) -> bool:
    """Whether a decoded character was no letter with a sign behind it."""
    if char.isascii():
        return False
    first, *further = char.encode()
    is_sign_behind = len(further) == 1 and further[0] in _BEHIND_WORDS
    return first == _OF_SIGNS or not is_sign_behind or following.islower()
