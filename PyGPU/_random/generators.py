"""What all random number generators share: methods, dtypes, arrays that are not contiguous."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from PyGPU._runtime import core, integer, require_array

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike, Int, SeedGetter, Shape, StreamLike

_FLOATS = ("f4", "f8")


def count_of(name: str, value: Int) -> int:
    """How far to skip: an int of 64 bits. OverflowError for others."""
    number = integer(name, value)
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name}: expected 0 to 2**64 - 1, got {number}")
    return number


def vector(
    name: str, array: core.GPUArray, dtype: DTypeLike, shape: tuple[int, ...]
) -> core.GPUArray:
    """A contiguous GPUArray of this dtype and shape, or a TypeError."""
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
    """The `n` seeds that a seed_getter gives, or a TypeError."""
    if not callable(getter):
        raise TypeError(
            "seed_getter: expected a callable that gives an int32 GPUArray of n seeds, got "
            f"{type(getter).__name__}; {advice}"
        )
    return vector("seed_getter(n)", getter(n), np.int32, (n,))


class Fill(NamedTuple):
    """What is to be done to a contiguous array that is not empty."""

    distribution: str
    code: str  # the dtype, as "f4"
    data: core.GPUArray
    parameters: tuple[float, ...]
    stream: StreamLike

    @property
    def kernel(self) -> str:
        return f"{self.distribution}_{self.code}"


class Generator:
    """The methods of a random number generator.

    A method ``fill_x(data, ...)`` fills a GPUArray, in the order of its memory where that is
    contiguous and else in C order; ``gen_x(shape, dtype, ...)`` makes a new one.

    Attributes
    ----------
    generator_bits : int
        Of a number as the generator makes it: 32 or 64.
    has_box_muller : bool
        Normal numbers are made by Box and Muller's method; otherwise by inversion.
    block_count, generators_per_block : int
        Their product is the number of generators that work side by side.
    """

    generator_bits = 32
    has_box_muller = True
    _uniform_dtypes: tuple[str, ...] = ("f4", "f8", "i4", "u4")
    _normal_dtypes: tuple[str, ...] = _FLOATS

    def fill_uniform(self, data: core.GPUArray, stream: StreamLike = None) -> None:
        """Uniform numbers in (0, 1], or integers of any bits.

        Parameters
        ----------
        data : GPUArray
            Of float32, float64, int32 or uint32; of int64 or uint64 with 64-bit generators.
        stream : Stream, optional

        Raises
        ------
        NotImplementedError
            For another dtype.
        """
        self._fill("uniform", data, (), stream)

    def gen_uniform(
        self, shape: Shape, dtype: DTypeLike, stream: StreamLike = None
    ) -> core.GPUArray:
        """A new array of uniform numbers. See :meth:`fill_uniform`."""
        return self._generated("uniform", shape, dtype, (), stream)

    def fill_normal(self, data: core.GPUArray, stream: StreamLike = None) -> None:
        """Normal numbers of mean 0 and standard deviation 1, in float32 or float64."""
        self._fill("normal", data, (), stream)

    def gen_normal(
        self, shape: Shape, dtype: DTypeLike, stream: StreamLike = None
    ) -> core.GPUArray:
        """A new array of normal numbers. See :meth:`fill_normal`."""
        return self._generated("normal", shape, dtype, (), stream)

    def fill_log_normal(
        self, data: core.GPUArray, mean: float, stddev: float, stream: StreamLike = None
    ) -> None:
        """exp(mean + stddev * z) of normal numbers z, in float32 or float64."""
        self._fill("log_normal", data, (float(mean), float(stddev)), stream)

    def gen_log_normal(
        self, shape: Shape, dtype: DTypeLike, mean: float, stddev: float, stream: StreamLike = None
    ) -> core.GPUArray:
        """A new array of log-normal numbers. See :meth:`fill_log_normal`."""
        return self._generated("log_normal", shape, dtype, (float(mean), float(stddev)), stream)

    def fill_poisson(
        self, data: core.GPUArray, lambda_value: float | None = None, stream: StreamLike = None
    ) -> None:
        """Poisson numbers.

        Parameters
        ----------
        data : GPUArray
            With `lambda_value`: of uint32, overwritten. Without: of float32, float64 or uint32;
            each element is the mean of the number that replaces it (a negative mean, an infinite
            one or NaN gives NaN). Numbers that uint32 cannot hold are 2**32 - 1.
        lambda_value : float, optional
            The mean.
        stream : Stream, optional

        Raises
        ------
        NotImplementedError
            For another dtype.
        ValueError
            For a mean that is negative or not finite.
        """
        self._fill(*self._poisson(data, lambda_value), stream)

    def gen_poisson(
        self, shape: Shape, dtype: DTypeLike, lambda_value: float, stream: StreamLike = None
    ) -> core.GPUArray:
        """A new array of Poisson numbers of one mean, in uint32. See :meth:`fill_poisson`."""
        mean = self._mean(lambda_value)
        return self._generated("poisson", shape, dtype, (mean,), stream)

    @staticmethod
    def _mean(value: float) -> float:
        mean = float(value)
        if not 0 <= mean < math.inf:
            raise ValueError(f"lambda_value={value!r}: expected a finite mean that is not negative")
        return mean

    def _poisson(
        self, data: core.GPUArray, lambda_value: float | None
    ) -> tuple[str, core.GPUArray, tuple[float, ...]]:
        if lambda_value is None:
            return "poisson_of", data, ()
        return "poisson", data, (self._mean(lambda_value),)

    @classmethod
    def _dtypes(cls, distribution: str) -> tuple[str, ...]:
        """The dtypes that a distribution comes in, as "f4"."""
        if distribution == "uniform":
            return cls._uniform_dtypes
        fixed = {"poisson": ("u4",), "poisson_of": ("f4", "f8", "u4")}
        return fixed.get(distribution, cls._normal_dtypes)

    @classmethod
    @functools.cache
    def _kind(cls, distribution: str, dtype: DType) -> tuple[str, str]:
        """(distribution, dtype) of the kernel: integers that are uniform are bits."""
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
        core._keep_for_others_graph(contiguous, stream)
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
