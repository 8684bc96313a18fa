"""Adapters of the measured libraries: PyGPU, CuPy, torch and NumPy."""

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

from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import DType, HostArray

#: Python functions in the expressions of the table. They replace a library's functions of the same
#: name.
_WORDS = {
    "abs": abs,
    "divmod": divmod,
    "iadd": operator.iadd,
    "imul": operator.imul,
}


@dataclass
class Library:
    """Adapter of a measured library.

    Attributes
    ----------
    name, version : str
        Name and version in reports.
    modules : list of module
        Modules whose functions the expressions of the table may use.
    adopt : callable or None
        Converts a PyGPU array to an array of the library, without a copy. None if the library uses
        NumPy arrays.
    fetch : callable
        Converts an array of the library to a NumPy array.
    release : callable
        Frees cached memory.
    words : dict
        Objects by their names in expressions. They replace functions of the modules.
    typed : dict
        Functions from a dtype to an object, for names whose object depends on the dtype.
    """

    name: str
    version: str
    modules: list[ModuleType]
    adopt: Callable[[Any], Any] | None
    fetch: Callable[[Any], HostArray]
    release: Callable[[], object]
    words: dict[str, Any] = field(default_factory=dict)
    typed: dict[str, Callable[[DType], Any]] = field(default_factory=dict)

    def word(self, name: str, dtype: DType) -> Any:
        """Return the object that a name in an expression means, or raise NameError.

        The names of operands are not looked up here.
        """
        if name in self.typed:
            return self.typed[name](dtype)
        for words in (self.words, _WORDS):
            if name in words:
                return words[name]
        for module in self.modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise NameError(f"{self.name} has no {name}")


def _fetched(array: Any) -> HostArray:
    """Convert an array to NumPy: by its method `get` if it has one."""
    found: HostArray = array.get() if hasattr(array, "get") else np.asarray(array)
    return found


def ours() -> Library:
    """Return the adapter of PyGPU."""
    from PyGPU import cumath, curandom, driver, elementwise, gpuarray, scan, tools

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
        fetch=_fetched,
        release=gc.collect,
        words={
            "generator": curandom.Philox4x32RandomNumberGenerator(seed=1),
            "memcpy_htod": driver.memcpy_htod,
            "memcpy_dtoh": driver.memcpy_dtoh,
            "cudaMemcpy": lambda *ends: errors.check(core.cudaMemcpy(*ends), "cudaMemcpy"),
        },
        typed={
            "dtype": lambda dtype: dtype,
            "axpy": axpy,
            "scan": functools.lru_cache(lambda dtype: scan.InclusiveScanKernel(dtype, "a + b")),
        },
    )


def _cupy() -> Library:
    cupy = importlib.import_module("cupy")
    if not cupy.cuda.is_available():
        raise ImportError("no device is available")
    pool = cupy.get_default_memory_pool()

    def axpy(s: float, x: Any, y: Any, z: Any) -> Any:
        return _axpy(x.dtype.type(s), x, y, z)

    _axpy = cupy.ElementwiseKernel("T s, T x, T y", "T z", "z = s * x + y")
    return Library(
        "CuPy",
        cupy.__version__,
        [cupy],
        adopt=cupy.asarray,
        fetch=_fetched,
        release=lambda: (gc.collect(), pool.free_all_blocks()),
        words={"axpy": axpy, "wait": lambda _: cupy.cuda.get_current_stream().synchronize()},
        typed={"dtype": lambda dtype: dtype},
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
        fetch=lambda array: np.asarray(array.cpu() if hasattr(array, "cpu") else array),
        release=lambda: (gc.collect(), torch.cuda.empty_cache()),
        words={"device": "cuda"},
        typed={"dtype": lambda dtype: getattr(torch, dtype.name)},
    )


def numpy() -> Library:
    """Return the adapter of NumPy."""
    return Library(
        "NumPy",
        np.__version__,
        [np],
        adopt=None,
        fetch=np.asarray,
        release=gc.collect,
        words={"generator": np.random.default_rng(1)},
        typed={"dtype": lambda dtype: dtype},
    )


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
