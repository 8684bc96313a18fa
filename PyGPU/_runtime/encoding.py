"""Bytes of texts and of names of files, in every locale.

Texts of programs are UTF-8. A name of a file has the bytes that the system has: Python's text of it
depends on the locale (:func:`os.fsdecode`).
"""

from __future__ import annotations

import os


def encoded(text: str) -> bytes:
    """Return a text in UTF-8.

    Bytes of a file that were not UTF-8 (``errors="surrogateescape"``) are those bytes again. Any
    other lone surrogate has an encoding too, so that it is an error of the compiler.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def encoded_word(word: str) -> bytes:
    """Return a word of a command line, which may have names of files, as a process would get it."""
    try:
        return os.fsencode(word)
    except UnicodeEncodeError:  # no name of a file in this locale
        return encoded(word)


def in_text(path: str) -> str:
    """Return a name of a file for use in a text, where :func:`encoded` gives its bytes."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")
