"""Digests of contents, by which files of the cache are named and checked: BLAKE2b of 32 bytes."""

from __future__ import annotations

try:
    # The function that hashlib has, too; but hashlib first loads OpenSSL, which takes milliseconds.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

NBYTES = 32


def new(start: bytes = b"") -> blake2b:
    """Return a digest to which data can be added by ``update``."""
    return blake2b(start, digest_size=NBYTES)


def of(data: bytes) -> bytes:
    """Return the digest of some data."""
    return new(data).digest()
