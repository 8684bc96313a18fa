"""Entry of the cache: an image, the compiler's log and the kernels' parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple


class Entry(NamedTuple):
    """Result of a compilation."""

    image: bytes
    log: str
    names: dict[str, str]  # name expression -> name in the image
    # kernel -> (name, kind, bytes) of each parameter
    parameters: Mapping[str, Sequence[tuple[str, str, int]]] = MappingProxyType({})
    # System headers that the compiler read: path -> (bytes, modification time in ns). None: some of
    # these files are unknown, so the entry must not be cached.
    system_files: Mapping[str, tuple[int, int]] | None = MappingProxyType({})
