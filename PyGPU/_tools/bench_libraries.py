"""The measured libraries, PyGPU, CuPy, torch and NumPy, and the arrays of the table for each."""

from __future__ import annotations

import functools
import gc
import importlib
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import cumath, curandom, driver, elementwise, gpuarray, scan, tools
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import DType, HostArray

#: Python functions in the expressions of the table. They replace a library's functions of the same
#: name.
_WORDS = {"abs": abs, "divmod": divmod, "iadd": operator.iadd, "imul": operator.imul}
_BLOCK = 1 << 20  # distinct elements; larger arrays repeat them
#: Arrays that expressions write. Each library has its own.
WRITTEN = {"c", "out", "d", "g", "pinned", "turned", "cube_102", "cube_021", "cube_210", "cube_120"}
_READ = {"a", "b", "h", "row", "column", "m", "on", "off", "i", "r"}
#: Arrays in host memory, the same for all libraries.
_ON_HOST = {"h", "g", "pinned"}


@dataclass
class Library:
    """Adapter of a measured library."""

    name: str
    version: str
    modules: list[ModuleType]  # whose functions expressions may use
    adopt: Callable[[Any], Any] | None  # an array of PyGPU, without a copy; None for NumPy's arrays
    empty_cache: Callable[[], object] = lambda: None
    #: Objects by their names in expressions. They replace functions of the modules.
    words: dict[str, Any] = field(default_factory=dict)
    #: Functions from a dtype to an object, for names whose object depends on the dtype.
    typed: dict[str, Callable[[DType], Any]] = field(default_factory=dict)

    def release(self) -> None:
        """Free the memory of arrays that nothing refers to."""
        gc.collect()
        self.empty_cache()

    def word(self, name: str, dtype: DType) -> Any:
        """Return the object that a name in an expression means, or raise NameError.

        The names of operands are not looked up here.
        """
        if name in self.typed:
            return self.typed[name](dtype)
        words = {"dtype": dtype, **_WORDS, **self.words}
        if name in words:
            return words[name]
        for module in self.modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise NameError(f"{self.name} has no {name}")


def fetch(array: Any) -> HostArray:
    """Return a library's array or number as a NumPy array."""
    method = getattr(array, "get", None) or getattr(array, "cpu", None)
    return np.array(method() if method else array)


def ours() -> Library:
    """Return the adapter of PyGPU."""

    @functools.lru_cache
    def axpy(dtype: DType) -> Any:
        kernel = elementwise.ElementwiseKernel(
            "T *z, T s, T *x, T *y".replace("T", tools.dtype_to_ctype(dtype)),
            "z[i] = s * x[i] + y[i]",
        )
        return lambda s, x, y, z: kernel(z, s, x, y)

    return Library(
        "PyGPU",
        core.__version__,
        [gpuarray, cumath, curandom, np],
        adopt=lambda array: array,
        words={
            "generator": curandom.Philox4x32RandomNumberGenerator(seed=1),
            "memcpy_htod": driver.memcpy_htod,
            "memcpy_dtoh": driver.memcpy_dtoh,
            "cudaMemcpy": lambda *ends: errors.check(core.cudaMemcpy(*ends), "cudaMemcpy"),
        },
        typed={
            "axpy": axpy,
            "scan": functools.lru_cache(lambda dtype: scan.InclusiveScanKernel(dtype, "a + b")),
        },
    )


def _cupy() -> Library:
    cupy = importlib.import_module("cupy")
    if not cupy.cuda.is_available():
        raise ImportError("no device is available")
    axpy = cupy.ElementwiseKernel("T s, T x, T y", "T z", "z = s * x + y")
    return Library(
        "CuPy",
        cupy.__version__,
        [cupy],
        adopt=cupy.asarray,
        empty_cache=cupy.get_default_memory_pool().free_all_blocks,
        words={
            "axpy": lambda s, x, y, z: axpy(x.dtype.type(s), x, y, z),
            "wait": lambda _: cupy.cuda.get_current_stream().synchronize(),
        },
    )


def _torch() -> Library:
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise ImportError("no device is available")
    return Library(
        "torch",
        torch.__version__,
        [torch],
        adopt=torch.from_dlpack,
        empty_cache=torch.cuda.empty_cache,
        words={"device": "cuda"},
        typed={"dtype": lambda dtype: getattr(torch, dtype.name)},
    )


def numpy() -> Library:
    """Return the adapter of NumPy."""
    words = {"generator": np.random.default_rng(1)}
    return Library("NumPy", np.__version__, [np], adopt=None, words=words)


def peers() -> tuple[list[Library], dict[str, str]]:
    """Return the peers on this target, and {name of a missing peer: reason}."""
    if not core.cuda_enabled:
        return [numpy()], {}
    found, missing = [], {}
    for name, make in (("CuPy", _cupy), ("torch", _torch)):
        try:
            found.append(make())
        except (ImportError, OSError) as error:  # OSError: a vendor's library is missing
            missing[name] = f"{error}"
    return found, missing


def _views(n: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return {name: (array, shape)} of reshaped arrays; n is a power of two."""
    exponent = n.bit_length() - 1
    rows = 1 << exponent // 2
    first, second = exponent // 3, (exponent - exponent // 3) // 2
    cube = 1 << first, 1 << second, n >> (first + second)
    return {
        "tall": ("a", (n // 4, 4)),
        "high": ("a", (n // 256, 256)),
        "square": ("a", (rows, n // rows)),
        "low": ("a", (256, n // 256)),
        "wide": ("a", (4, n // 4)),
        "cube": ("a", cube),
        "turned": ("out", (n // rows, rows)),
        **{
            f"cube_{i}{j}{k}": ("out", (cube[i], cube[j], cube[k]))
            for i, j, k in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0))
        },
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

    An array is created from a NumPy array at its first use. The libraries share it, unless
    expressions write it.
    """

    def __init__(self, n: int, dtype: str) -> None:
        self.n, self.dtype = n, np.dtype(dtype)
        self._views = _views(n)
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

    def _created(self, name: str) -> HostArray:
        n, (rows, columns) = self.n, self._views["square"][1]
        if name in ("a", "b", "h"):
            return self._numbers(ord(name))
        if name in ("row", "column"):
            b = self.host("b")
            return b[:columns] if name == "row" else b[:rows].reshape(rows, 1)
        if name == "m":
            return np.resize(np.random.default_rng(3).random(min(n, _BLOCK)) > 0.5, n)
        if name in ("on", "off"):
            return np.full(n, name == "on")
        if name in ("i", "r"):
            return _shuffled(n if name == "i" else n // 256)
        if name == "pinned":
            pinned = driver.pagelocked_empty(n, self.dtype)
            pinned[...] = self.host("h")
            return pinned
        return np.ones(n, self.dtype)  # an array that expressions write

    def host(self, name: str) -> HostArray:
        """Return the NumPy array with this name."""
        if name not in self._host:
            self._host[name] = self._created(name)
        return self._host[name]

    def __contains__(self, name: str) -> bool:
        return name in self._views or name in _READ or name in WRITTEN

    def of(self, library: Library, name: str) -> Any:
        """Return a library's array with this name."""
        key = (library.name, name)
        if key not in self._found:
            self._found[key] = self._adopted(library, name)
        return self._found[key]

    def _adopted(self, library: Library, name: str) -> Any:
        if name in self._views:
            base, shape = self._views[name]
            return self.of(library, base).reshape(shape)
        array = self.host(name)
        if name in _ON_HOST:
            return array
        if library.adopt is None:
            return array.copy() if name in WRITTEN else array
        if name in WRITTEN:
            return library.adopt(core.to_gpu(array))
        if ("", name) not in self._found:
            self._found["", name] = core.to_gpu(array)
        return library.adopt(self._found["", name])
