"""Generators of Sobol sequences under PyCUDA's names, their direction vectors and constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._driver import enums
from PyGPU._random import curand, sobol
from PyGPU._runtime import core, docstrings, integer

if TYPE_CHECKING:
    from PyGPU._types import HostArray, Int


class direction_vector_set(enums._Enumeration):
    """Tables of direction vectors for Sobol sequences."""

    __module__ = "PyGPU.curandom"
    VECTOR_32, SCRAMBLED_VECTOR_32, VECTOR_64, SCRAMBLED_VECTOR_64 = 101, 102, 103, 104


def _repeated(table: HostArray, count: Int) -> core.GPUArray:
    """Return the first `count` rows of a cyclic table as a GPUArray."""
    count = integer("count", count)
    if count < 0:
        raise ValueError(f"count={count}: expected 0 or more")
    return core.to_gpu(table[np.arange(count) % len(table)])


def generate_direction_vectors(
    count: Int, direction: direction_vector_set = direction_vector_set.VECTOR_32
) -> core.GPUArray:
    """Return Joe and Kuo's direction vectors of Sobol sequences, from cuRAND's or rocRAND's tables.

    :param count: Number of vectors. The table has 20000 vectors and is repeated.
    :param direction: Table of the vectors.
    :returns: uint32, shape (count, 32), or uint64, shape (count, 64).
    :raises NotImplementedError: If neither cuRAND nor a rocRAND with these tables is installed.

    >>> import PyGPU.curandom as curandom
    >>> try:
    ...     shape = curandom.generate_direction_vectors(4).shape
    ... except NotImplementedError:  # no cuRAND
    ...     shape = (4, 32)
    >>> shape
    (4, 32)
    """
    chosen = direction_vector_set(direction)
    bits = 32 if chosen <= direction_vector_set.SCRAMBLED_VECTOR_32 else 64
    return _repeated(curand.table("vectors", bits, int(chosen)), count)


def generate_scramble_constants32(count: Int) -> core.GPUArray:
    """Return constants for scrambled Sobol sequences of 32 bits.

    :param count: Number of constants. The table has 20000 constants and is repeated.
    :returns: uint32, shape (count,).
    :raises NotImplementedError: If neither cuRAND nor a rocRAND with these tables is installed.

    >>> import PyGPU.curandom as curandom
    >>> try:
    ...     shape = curandom.generate_scramble_constants32(4).shape
    ... except NotImplementedError:  # no cuRAND
    ...     shape = (4,)
    >>> shape
    (4,)
    """
    return _repeated(curand.table("constants", 32), count)


def generate_scramble_constants64(count: Int) -> core.GPUArray:
    """Return constants for scrambled Sobol sequences of 64 bits.

    :param count: Number of constants. The table has 20000 constants and is repeated.
    :returns: uint64, shape (count,).
    :raises NotImplementedError: If neither cuRAND nor a rocRAND with these tables is installed.

    >>> import PyGPU.curandom as curandom
    >>> try:
    ...     shape = curandom.generate_scramble_constants64(4).shape
    ... except NotImplementedError:  # no cuRAND
    ...     shape = (4,)
    >>> shape
    (4,)
    """
    return _repeated(curand.table("constants", 64), count)


def _vectors(given: core.GPUArray | None, table: direction_vector_set) -> core.GPUArray:
    """Return `given` or, if it is None, as many vectors of a table as keep the device busy."""
    return generate_direction_vectors(sobol.default_count(), table) if given is None else given


class Sobol32RandomNumberGenerator(sobol.Sequence):
    """Parallel Sobol sequences of 32 bits: quasi-random numbers, by PyGPU's own kernels.

    Element k of a filled array is the next number of sequence k % N. So each row of an array of
    shape (number of points, N) is a point in N dimensions.

    :param dir_vector: uint32, shape (N, 32): direction vectors of N sequences. By default, those of
        cuRAND or rocRAND.
    :param offset: Number of values that each sequence skips at the start.
    :raises TypeError: If the vectors have another dtype or shape.
    :raises NotImplementedError: If no vectors are passed and neither cuRAND nor rocRAND of ROCm 6
        is installed.

    >>> import PyGPU.gpuarray as gpuarray
    >>> import PyGPU.curandom as curandom
    >>> vectors = gpuarray.to_gpu(np.uint32([[1 << 31 - bit for bit in range(32)]]))
    >>> generator = curandom.Sobol32RandomNumberGenerator(vectors, offset=1)
    >>> generator.gen_uniform(4, "float32").get()
    array([0.5  , 0.75 , 0.25 , 0.375], dtype=float32)
    """

    def __init__(self, dir_vector: core.GPUArray | None = None, offset: int = 0) -> None:
        vectors = _vectors(dir_vector, direction_vector_set.VECTOR_32)
        super().__init__(vectors, None, offset)


class ScrambledSobol32RandomNumberGenerator(sobol.Sequence):
    """Parallel scrambled Sobol sequences of 32 bits.

    :param dir_vector: uint32, shape (N, 32): direction vectors of N sequences. By default, those of
        cuRAND or rocRAND.
    :param scramble_vector: uint32, shape (N,): constant that is XORed into every number of a
        sequence. By default, those of cuRAND or rocRAND.
    :param offset: Number of values that each sequence skips at the start.

    >>> import PyGPU.gpuarray as gpuarray
    >>> import PyGPU.curandom as curandom
    >>> vectors = gpuarray.to_gpu(np.uint32([[1 << 31 - bit for bit in range(32)]]))
    >>> constants = gpuarray.to_gpu(np.uint32([7]))
    >>> generator = curandom.ScrambledSobol32RandomNumberGenerator(vectors, constants)
    >>> generator.gen_uniform(2, "uint32").get()
    array([         7, 2147483655], dtype=uint32)
    """

    def __init__(
        self,
        dir_vector: core.GPUArray | None = None,
        scramble_vector: core.GPUArray | None = None,
        offset: int = 0,
    ) -> None:
        vectors = _vectors(dir_vector, direction_vector_set.SCRAMBLED_VECTOR_32)
        constants = generate_scramble_constants32 if scramble_vector is None else scramble_vector
        super().__init__(vectors, constants, offset)


class Sobol64RandomNumberGenerator(sobol.Sequence):
    """Parallel Sobol sequences of 64 bits.

    :param dir_vector: uint64, shape (N, 64): direction vectors of N sequences. By default, those of
        cuRAND or rocRAND.
    :param offset: Number of values that each sequence skips at the start.

    >>> import PyGPU.gpuarray as gpuarray
    >>> import PyGPU.curandom as curandom
    >>> vectors = gpuarray.to_gpu(np.uint64([[1 << 63 - bit for bit in range(64)]]))
    >>> generator = curandom.Sobol64RandomNumberGenerator(vectors, offset=1)
    >>> generator.gen_uniform(2, "float64").get()
    array([0.5 , 0.75])
    """

    generator_bits = 64
    _uniform_dtypes = ("f4", "f8", "i4", "u4", "i8", "u8")

    def __init__(self, dir_vector: core.GPUArray | None = None, offset: int = 0) -> None:
        vectors = _vectors(dir_vector, direction_vector_set.VECTOR_64)
        super().__init__(vectors, None, offset)


class ScrambledSobol64RandomNumberGenerator(sobol.Sequence):
    """Parallel scrambled Sobol sequences of 64 bits.

    :param dir_vector: uint64, shape (N, 64): direction vectors of N sequences. By default, those of
        cuRAND or rocRAND.
    :param scramble_vector: uint64, shape (N,): constant that is XORed into every number of a
        sequence. By default, those of cuRAND or rocRAND.
    :param offset: Number of values that each sequence skips at the start.

    >>> import PyGPU.gpuarray as gpuarray
    >>> import PyGPU.curandom as curandom
    >>> vectors = gpuarray.to_gpu(np.uint64([[1 << 63 - bit for bit in range(64)]]))
    >>> constants = gpuarray.to_gpu(np.uint64([7]))
    >>> generator = curandom.ScrambledSobol64RandomNumberGenerator(vectors, constants)
    >>> generator.gen_uniform(2, "uint64").get()
    array([                  7, 9223372036854775815], dtype=uint64)
    """

    generator_bits = 64
    _uniform_dtypes = ("f4", "f8", "i4", "u4", "i8", "u8")

    def __init__(
        self,
        dir_vector: core.GPUArray | None = None,
        scramble_vector: core.GPUArray | None = None,
        offset: int = 0,
    ) -> None:
        vectors = _vectors(dir_vector, direction_vector_set.SCRAMBLED_VECTOR_64)
        constants = generate_scramble_constants64 if scramble_vector is None else scramble_vector
        super().__init__(vectors, constants, offset)


docstrings.complete(__name__)
