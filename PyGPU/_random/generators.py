"""Common base of the random number generators: methods, dtypes, seeds, non-contiguous arrays."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from PyGPU._runtime import (
    core,
    docstrings,
    errors,
    integer,
    record_event,
    require_array,
    state,
)

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike, Int, SeedGetter, Shape, StreamLike

_FLOATS = ("f4", "f8")


def count_of(name: str, value: Int) -> int:
    """Return a number to skip as an int of 64 bits, or raise OverflowError."""
    number = integer(name, value)
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name}: expected 0 to 2**64 - 1, got {number}")
    return number


def vector(
    name: str, array: core.GPUArray, dtype: DTypeLike, shape: tuple[int, ...]
) -> core.GPUArray:
    """Return a contiguous GPUArray of this dtype and shape, or raise TypeError."""
    dtype = np.dtype(dtype)
    if not isinstance(array, core.GPUArray) or array.dtype != dtype or array.shape != shape:
        got = type(array).__name__
        if isinstance(array, core.GPUArray):
            got = f"one of dtype {array.dtype} and shape {array.shape}"
        raise TypeError(
            f"{name}: expected a GPUArray of dtype {dtype} and shape {shape}, got {got}"
        )
    if array.flags.c_contiguous:
        return array
    contiguous = core.GPUArray(shape, dtype)
    contiguous.set(array)
    return contiguous


def seeds_of(getter: SeedGetter, n: int, advice: str) -> core.GPUArray:
    """Return the `n` seeds of a seed_getter, or raise TypeError."""
    if not callable(getter):
        raise TypeError(
            "seed_getter: expected a callable that returns an int32 GPUArray of n seeds, got "
            f"{type(getter).__name__}; {advice}"
        )
    return vector("seed_getter(n)", getter(n), np.int32, (n,))


class Fill(NamedTuple):
    """Fill of a contiguous, non-empty array with random numbers."""

    distribution: str
    code: str  # the dtype, as "f4"
    data: core.GPUArray
    parameters: tuple[float, ...]
    stream: StreamLike

    @property
    def kernel(self) -> str:
        return f"{self.distribution}_{self.code}"


class Order:
    """Order of the uses of a generator's state: one thread and one stream after the other.

    A pickle or deep copy of a generator has a state, and thus an order, of its own.
    """

    def __init__(self) -> None:
        # Reentrant: a finalizer or a signal handler may draw numbers inside a turn.
        self._lock = threading.RLock()
        self._last_use: core.cudaEvent_t | None = None  # on the last stream; None: the null stream

    def __reduce__(self) -> tuple[type[Order], tuple[()]]:
        return type(self), ()

    @contextmanager
    def turn(self, stream: StreamLike = None, device: int | None = None) -> Iterator[None]:
        """Hold the state, and make `stream` wait for the work that used it before.

        `device` has the state; None: the host, so a parent of forked processes may change it.
        A captured stream does not wait for work outside of its graph.
        """
        if device is not None or core._is_forked_child():
            state.current_device()  # raises in such a child, where the lock may be held for ever
        with self._lock:
            is_null = stream is None and self._last_use is None
            if device is None or is_null or core._is_captured(stream):
                yield
                return
            with core.device(device):  # that of the events
                last_use = self._last_use or record_event(None)
                errors.check(core.cudaStreamWaitEvent(stream, last_use), "cudaStreamWaitEvent")
                yield
                self._last_use = None if stream is None else record_event(stream)


class Generator:
    """Base class of random number generators.

    A method ``fill_x(data, ...)`` fills a GPUArray: a contiguous one in memory order, any other in
    C order. ``gen_x(shape, dtype, ...)`` returns a new array.

    Attributes
    ----------
    generator_bits : int
        Bits of a number of the generator: 32 or 64.
    has_box_muller : bool
        True: normal numbers come from the method of Box and Muller; False: from inversion.
    block_count, generators_per_block : int
        Blocks, and parallel generators of each block.
    """

    generator_bits = 32
    has_box_muller = True
    _uniform_dtypes: tuple[str, ...] = ("f4", "f8", "i4", "u4")
    _normal_dtypes: tuple[str, ...] = _FLOATS

    def __init__(self) -> None:
        self._order = Order()

    def fill_uniform(self, data: core.GPUArray, stream: StreamLike = None) -> None:
        """Fill an array with uniform numbers in (0, 1], or with random integers.

        :param data: float32, float64, int32 or uint32; for 64-bit generators also int64 or uint64.
        :param stream:
        :raises NotImplementedError: If the array has another dtype.
        """
        self._fill("uniform", data, (), stream)

    def gen_uniform(
        self, shape: Shape, dtype: DTypeLike, stream: StreamLike = None
    ) -> core.GPUArray:
        """Return a new array of uniform numbers in (0, 1], or of random integers.

        :param shape:
        :param dtype: Data type as of :meth:`fill_uniform`.
        :param stream:
        :returns: The numbers.
        """
        return self._generated("uniform", shape, dtype, (), stream)

    def fill_normal(self, data: core.GPUArray, stream: StreamLike = None) -> None:
        """Fill an array with normal numbers of mean 0 and standard deviation 1.

        :param data: float32 or float64; with Philox also float16.
        :param stream:
        """
        self._fill("normal", data, (), stream)

    def gen_normal(
        self, shape: Shape, dtype: DTypeLike, stream: StreamLike = None
    ) -> core.GPUArray:
        """Return a new array of normal numbers of mean 0 and standard deviation 1.

        :param shape:
        :param dtype: Data type as of :meth:`fill_normal`.
        :param stream:
        :returns: The numbers.
        """
        return self._generated("normal", shape, dtype, (), stream)

    def fill_log_normal(
        self, data: core.GPUArray, mean: float, stddev: float, stream: StreamLike = None
    ) -> None:
        """Fill an array with log-normal numbers exp(mean + stddev * z), z standard normal.

        :param data: float32 or float64; with Philox also float16.
        :param mean: Mean of the logarithm.
        :param stddev: Standard deviation of the logarithm.
        :param stream:
        """
        self._fill("log_normal", data, (float(mean), float(stddev)), stream)

    def gen_log_normal(
        self, shape: Shape, dtype: DTypeLike, mean: float, stddev: float, stream: StreamLike = None
    ) -> core.GPUArray:
        """Return a new array of log-normal numbers exp(mean + stddev * z), z standard normal.

        :param shape:
        :param dtype: Data type as of :meth:`fill_log_normal`.
        :param mean: Mean of the logarithm.
        :param stddev: Standard deviation of the logarithm.
        :param stream:
        :returns: The numbers.
        """
        return self._generated("log_normal", shape, dtype, (float(mean), float(stddev)), stream)

    def fill_poisson(
        self, data: core.GPUArray, lambda_value: float | None = None, stream: StreamLike = None
    ) -> None:
        """Fill an array with Poisson numbers.

        :param data: With `lambda_value`: uint32. Without: float32, float64 or uint32, and each
            element is the mean of the number that replaces it; a negative or infinite mean and NaN
            give NaN. Numbers above the range of uint32 are stored as 2**32 - 1.
        :param lambda_value: Mean of all numbers.
        :param stream:
        :raises NotImplementedError: If the array has another dtype.
        :raises ValueError: If the mean is negative or not finite.
        """
        self._fill(*self._poisson(data, lambda_value), stream)

    def gen_poisson(
        self, shape: Shape, dtype: DTypeLike, lambda_value: float, stream: StreamLike = None
    ) -> core.GPUArray:
        """Return a new array of Poisson numbers.

        :param shape:
        :param dtype: uint32.
        :param lambda_value: Mean of all numbers.
        :param stream:
        :returns: The numbers.
        """
        mean = self._mean(lambda_value)
        return self._generated("poisson", shape, dtype, (mean,), stream)

    @staticmethod
    def _mean(value: float) -> float:
        mean = float(value)
        if not 0 <= mean < math.inf:
            raise ValueError(f"lambda_value={value!r}: expected a finite mean of 0 or more")
        return mean

    def _poisson(
        self, data: core.GPUArray, lambda_value: float | None
    ) -> tuple[str, core.GPUArray, tuple[float, ...]]:
        if lambda_value is None:
            return "poisson_of", data, ()
        return "poisson", data, (self._mean(lambda_value),)

    @classmethod
    def _dtypes(cls, distribution: str) -> tuple[str, ...]:
        """Return the dtypes of a distribution, such as "f4"."""
        if distribution == "uniform":
            return cls._uniform_dtypes
        fixed = {"poisson": ("u4",), "poisson_of": ("f4", "f8", "u4")}
        return fixed.get(distribution, cls._normal_dtypes)

    @classmethod
    @functools.cache
    def _kind(cls, distribution: str, dtype: DType) -> tuple[str, str]:
        """Return (distribution, dtype) of the kernel; uniform integers are the kernel "bits"."""
        code = f"{dtype.kind}{dtype.itemsize}" if dtype.isnative else None
        known = cls._dtypes(distribution)
        if code not in known:
            names = ", ".join(np.dtype(one).name for one in known)
            raise NotImplementedError(
                f"{cls.__name__}: no {distribution.replace('_of', '')} numbers of dtype "
                f"{dtype}; expected {names}"
            )
        if distribution == "uniform" and code[0] in "iu":
            return "bits", "u" + code[1]
        return distribution, code

    def _fill(
        self,
        distribution: str,
        data: core.GPUArray,
        parameters: tuple[float, ...],
        stream: StreamLike,
    ) -> None:
        kind = self._kind(distribution, require_array("data", data).dtype)
        if data.size == 0:
            return
        if data.flags.forc:
            self._launch(Fill(*kind, data, parameters, stream))
            return
        contiguous = core.GPUArray(data.shape, data.dtype)
        core._keep_for_callers_graph(contiguous, stream)
        if distribution == "poisson_of":
            contiguous.set_async(data, stream)
        self._launch(Fill(*kind, contiguous, parameters, stream))
        data.set_async(contiguous, stream)

    def _generated(
        self,
        distribution: str,
        shape: Shape,
        dtype: DTypeLike,
        parameters: tuple[float, ...],
        stream: StreamLike,
    ) -> core.GPUArray:
        dtype = np.dtype(dtype)
        kind = self._kind(distribution, dtype)
        result = core.GPUArray(shape, dtype)
        if result.size:
            self._launch(Fill(*kind, result, parameters, stream))
        return result

    def _launch(self, fill: Fill) -> None:
        raise NotImplementedError


def seed_getter_uniform(n: int) -> core.GPUArray:
    """Return one seed from ``numpy.random``, repeated.

    :param n: Length of the result.
    :returns: int32, shape (n,).

    >>> import PyGPU.curandom as curandom
    >>> seeds = curandom.seed_getter_uniform(4).get()
    >>> bool((seeds == seeds[0]).all())
    True
    """
    return core.to_gpu(np.full(n, np.random.randint(0, 2**31 - 1), np.int32))


def seed_getter_unique(n: int) -> core.GPUArray:
    """Return independent seeds from ``numpy.random``.

    :param n: Number of seeds.
    :returns: int32, shape (n,).

    >>> import PyGPU.curandom as curandom
    >>> curandom.seed_getter_unique(4).shape
    (4,)
    """
    return core.to_gpu(np.random.randint(0, 2**31 - 1, n).astype(np.int32))


def random_key() -> int:
    """Return 64 bits from ``numpy.random``."""
    # NumPy loads numpy.random at its first use. It has get_bit_generator from 1.24 on.
    bit_generator = getattr(np.random, "get_bit_generator", None)
    generator = bit_generator and bit_generator()
    if type(generator) is np.random.MT19937:  # the words that randint would return, but faster
        low, high = generator.random_raw(), generator.random_raw()
    else:
        low, high = np.random.randint(0, 2**32, 2, np.uint64)
    return int(high) << 32 | int(low)


docstrings.complete(__name__)
