"""Digests of 32 bytes, by which files of the cache are named and checked."""

from __future__ import annotations

import functools
from typing import Any, Protocol

try:
    # The function that hashlib has, too; but hashlib first loads OpenSSL, which takes milliseconds.
    from _blake2 import blake2b

    _make: Any = functools.partial(blake2b, digest_size=32)
except ImportError:  # Python in FIPS mode, or built without its own functions
    from hashlib import sha256 as _make

NBYTES = 32


class Digest(Protocol):
    """A digest of the data so far, as hashlib makes it."""

    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...


def new(start: bytes = b"") -> Digest:
    """Return a digest to which data can be added."""
    made: Digest = _make(start)
    return made


def of(data: bytes) -> bytes:
    """Return the digest of some data."""
    return new(data).digest()
