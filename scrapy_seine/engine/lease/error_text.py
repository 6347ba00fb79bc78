"""An exception as one line of text: in a dead letter, and in the log."""

from __future__ import annotations

from scrapy_seine.printable import redact

#: Characters of an exception's text that a dead letter keeps.
_TEXT = 500
#: Explanations of exceptions that users need not understand as Python errors.
_SENTENCES: tuple[tuple[type[BaseException], str, str], ...] = (
    (LookupError, "not a text encoding", "the page names a charset that is none of text"),
    (LookupError, "unknown encoding", "the page names a charset that does not exist"),
)


def describe(error: BaseException) -> str:
    """Return class and text of an exception, short, printable and without credentials. Never
    raises.

    >>> describe(LookupError("unknown encoding: klingon"))
    'the page names a charset that does not exist (LookupError: unknown encoding: klingon)'

    >>> describe(ValueError("http://me:secret@shop.example/ is wrong"))
    'ValueError: http://***@shop.example/ is wrong'
    """
    try:
        text = redact(" ".join(str(error).split()))
    except Exception:  # __str__ of a project's own exception may fail
        text = ""
    summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
    for kind, words, sentence in _SENTENCES:
        if isinstance(error, kind) and words in text:
            return printable(f"{sentence} ({summary})")
    return printable(summary)


def printable(text: str) -> str:
    """Shorten a text, and replace characters that UTF-8 cannot encode.

    >>> printable("a" + chr(0xD800))
    'a?'
    """
    return text[:_TEXT].encode("utf-8", "replace").decode()
