"""Operands of the table's expressions: arrays of one size and dtype, for each library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._bench.libraries import Library
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import HostArray

_BLOCK = 1 << 20  # distinct elements; larger arrays repeat them
#: Arrays that expressions write. Each library has its own.
WRITTEN = {"c", "out", "d", "g", "pinned", "turned", "cube_102", "cube_021", "cube_210", "cube_120"}
_READ = {"a", "b", "h", "row", "column", "m", "on", "off", "i", "r"}
#: Arrays in host memory, the same for all libraries.
_ON_HOST = {"h", "g", "pinned"}


def _cube(n: int) -> tuple[int, int, int]:
    """Return a shape of n elements whose axes have about the same length."""
    exponent = n.bit_length() - 1
    first, second = exponent // 3, (exponent - exponent // 3) // 2
    return 1 << first, 1 << second, n >> (first + second)


def views(n: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return {name: (array, shape)} of reshaped arrays; n is a power of two."""
    rows = 1 << (n.bit_length() - 1) // 2
    cube = _cube(n)
    permuted = {
        f"cube_{i}{j}{k}": ("out", (cube[i], cube[j], cube[k]))
        for i, j, k in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0))
    }
    return {
        "tall": ("a", (n // 4, 4)),
        "high": ("a", (n // 256, 256)),
        "square": ("a", (rows, n // rows)),
        "low": ("a", (256, n // 256)),
        "wide": ("a", (4, n // 4)),
        "cube": ("a", cube),
        "turned": ("out", (n // rows, rows)),
        **permuted,
    }


def _shuffled(n: int) -> HostArray:
    """Return a pseudo-random permutation of range(n), ten times as fast as NumPy's; n = 2**k.

    Each step is a bijection modulo n: a multiplication by an odd number, or an XOR with shifted
    bits.
    """
    numbers = np.arange(n, dtype=np.int64)
    shift = max(1, (n.bit_length() - 1) // 2)
    for factor in (2654435761, 2246822519, 3266489917):
        numbers *= factor
        numbers &= n - 1
        numbers ^= numbers >> shift
    return numbers


class Operands:
    """Arrays of one dtype and size, a power of two of at least 256.

    An array is made from a NumPy array at its first use. The libraries share it, unless expressions
    write it.
    """

    def __init__(self, n: int, dtype: str) -> None:
        self.n, self.dtype = n, np.dtype(dtype)
        self._views = views(n)
        self._host: dict[str, HostArray] = {}
        self._found: dict[tuple[str, str], Any] = {}

    def _numbers(self, seed: int) -> HostArray:
        """Return numbers around 1, so that products stay finite, or integers from 1 to 9."""
        random, count = np.random.default_rng(seed), min(self.n, _BLOCK)
        if self.dtype.kind in "iu":
            block = random.integers(1, 10, count).astype(self.dtype)
        else:
            block = (0.75 + random.random(count, np.float32) / 2).astype(self.dtype)
            if self.dtype.kind == "c":
                block += np.complex64(1j) * random.random(count, np.float32)
        return np.resize(block, self.n)

    def _made(self, name: str) -> HostArray:
        n = self.n
        if name in ("a", "b", "h"):
            return self._numbers(ord(name))
        if name == "row":
            return self.host("b")[: self._views["square"][1][1]]
        if name == "column":
            rows = self._views["square"][1][0]
            return self.host("b")[:rows].reshape(rows, 1)
        if name == "m":
            return np.resize(np.random.default_rng(3).random(min(n, _BLOCK)) > 0.5, n)
        if name in ("on", "off"):
            return np.full(n, name == "on")
        if name == "i":
            return _shuffled(n)
        if name == "r":
            return _shuffled(n // 256)
        if name == "pinned":
            from PyGPU import driver

            made = driver.pagelocked_empty(n, self.dtype)
            made[...] = self.host("h")
            return made
        return np.ones(n, self.dtype)  # an array that expressions write

    def host(self, name: str) -> HostArray:
        """Return the NumPy array with this name."""
        if name not in self._host:
            self._host[name] = self._made(name)
        return self._host[name]

    def __contains__(self, name: str) -> bool:
        return name in self._views or name in _READ or name in WRITTEN

    def of(self, library: Library, name: str) -> Any:
        """Return a library's array with this name."""
        key = (library.name, name)
        if key not in self._found:
            self._found[key] = self._made_for(library, name)
        return self._found[key]

    def _made_for(self, library: Library, name: str) -> Any:
        if name in self._views:
            base, shape = self._views[name]
            return self.of(library, base).reshape(shape)
        if name in _ON_HOST:
            return self.host(name)
        if library.adopt is None:
            return self.host(name).copy() if name in WRITTEN else self.host(name)
        if name in WRITTEN or (shared := self._found.get(("", name))) is None:
            shared = core.to_gpu(self.host(name))
            if name not in WRITTEN:
                self._found["", name] = shared
        return library.adopt(shared)
