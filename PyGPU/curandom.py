"""Random numbers on the device: the names of ``pycuda.curandom``.

``rand`` and ``Philox4x32RandomNumberGenerator`` are PyGPU's own and need no library: the same seed
gives the same uniform numbers on every target, device and launch shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._driver import enums
from PyGPU._random import curand, philox, pseudo, sobol
from PyGPU._random.generators import Fill, Generator, count_of, seeds_of, vector
from PyGPU._runtime.arguments import integer
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, HostArray, Int, SeedGetter, Shape, StreamLike

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "Philox4x32RandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]


@enums._listed
class direction_vector_set(enums._Enumeration):
    """Tables of direction vectors for Sobol's sequences."""

    VECTOR_32, SCRAMBLED_VECTOR_32, VECTOR_64, SCRAMBLED_VECTOR_64 = 101, 102, 103, 104


direction_vector_set.__module__ = __name__


def get_curand_version() -> tuple[int, int, int] | None:
    """(major, minor, revision) of cuRAND (on AMD of rocRAND), or None where it is not installed."""
    return curand.version()


def seed_getter_uniform(n: int) -> core.GPUArray:
    """One seed from ``numpy.random``, `n` times: an int32 GPUArray."""
    return core.to_gpu(np.full(n, np.random.randint(0, 2**31 - 1), np.int32))


def seed_getter_unique(n: int) -> core.GPUArray:
    """`n` seeds from ``numpy.random``: an int32 GPUArray."""
    return core.to_gpu(np.random.randint(0, 2**31 - 1, n).astype(np.int32))


class Philox4x32RandomNumberGenerator(Generator):
    """The counter-based generator Philox4x32-10 (Salmon and others, SC11).

    What a fill gives depends on the seed and on what was drawn or skipped before, not on the
    device, the launch or the target; uniform numbers are the same to the last bit. The sequence is
    one of 32-bit words: float32, int32 take one each, 8-byte types two, float16 half a word (a
    normal float16 a whole one), Poisson numbers four. A fill goes on where the one before ended.

    Parameters
    ----------
    seed_getter : callable(int), optional
        Gives an int32 GPUArray with the seed, of length 1. Default: from ``numpy.random``.
    offset : int
        Words to skip at first.
    seed : int, optional
        The seed (of 64 bits) itself, instead of a getter.
    """

    generators_per_block = 1
    block_count = 1
    backend = "philox"
    _uniform_dtypes = ("f2", "f4", "f8", "i4", "u4", "i8", "u8")
    _normal_dtypes = ("f2", "f4", "f8")

    def __init__(
        self, seed_getter: SeedGetter | None = None, offset: int = 0, *, seed: Int | None = None
    ) -> None:
        if seed is not None:
            if seed_getter is not None:
                raise TypeError("seed: expected either seed or seed_getter, got both")
            key = integer("seed", seed)
        elif seed_getter is not None:
            key = int(seeds_of(seed_getter, 1, "a seed itself is given by seed=").get()[0])
        else:
            key = _random_key()
        self._key = key % 2**64
        self._word = count_of("offset", offset)
        self._sequence = 0

    def _launch(self, fill: Fill) -> None:
        place = (self._key, self._word, self._sequence)
        what = fill.distribution, fill.code, fill.data
        self._word = philox.fill(*what, *place, fill.parameters, fill.stream)

    def call_skip_ahead(self, i: Int, stream: StreamLike = None) -> None:
        """Skip `i` words of 32 bits."""
        self._word += count_of("i", i)

    def call_skip_ahead_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip as many words as the one element of a uint64 GPUArray says."""
        self._word += self._read(i)

    def call_skip_ahead_sequence(self, i: Int, stream: StreamLike = None) -> None:
        """Go to the same place of the sequence after `i` others, of 2**32."""
        self._sequence += count_of("i", i)

    def call_skip_ahead_sequence_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip as many sequences as the one element of a uint64 GPUArray says."""
        self._sequence += self._read(i)

    @staticmethod
    def _read(i: core.GPUArray) -> int:
        return int(vector("i", i, np.uint64, (1,)).get()[0])


#: That of ``numpy.random``; NumPy has it from 1.24 on.
_bit_generator = getattr(np.random, "get_bit_generator", None)


def _random_key() -> int:
    """64 bits from ``numpy.random``."""
    generator = _bit_generator and _bit_generator()
    if type(generator) is np.random.MT19937:  # its words, which randint gives as well, but slowly
        low, high = generator.random_raw(), generator.random_raw()
    else:
        low, high = np.random.randint(0, 2**32, 2, np.uint64)
    return int(high) << 32 | int(low)


def rand(shape: Shape, dtype: DTypeLike = np.float32, stream: StreamLike = None) -> core.GPUArray:
    """Uniform numbers in [0, 1), or integers of any bits.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
        float16, float32, float64, or an integer of 32 or 64 bits.
    stream : Stream, optional

    Returns
    -------
    GPUArray
        By Philox4x32-10 with a seed from ``numpy.random``: ``np.random.seed`` makes it repeat.

    Raises
    ------
    NotImplementedError
        For another dtype.
    """
    dtype = np.dtype(dtype)
    name, code = Philox4x32RandomNumberGenerator._kind("uniform", dtype)
    made = core.GPUArray(shape, dtype)
    distribution = "half_open" if name == "uniform" else name
    philox.fill(distribution, code, made, _random_key(), word=0, sequence=0, stream=stream)
    return made


class XORWOWRandomNumberGenerator(pseudo.States):
    """Marsaglia's XORWOW, by the device functions of curand_kernel.h.

    State i is initialized with seed i and sequence i. Integers and uniform numbers are cuRAND's to
    the last bit on every target; ``backend`` tells whether NVIDIA's header makes them or ours.

    Parameters
    ----------
    seed_getter : callable(int), optional
        Gives an int32 GPUArray of that many seeds. Default: :func:`seed_getter_unique`.
    offset : int
        Numbers that each generator skips at first.

    Raises
    ------
    TypeError
        Where the getter gives anything else.
    """

    _name = "XORWOW"

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)


class MRG32k3aRandomNumberGenerator(pseudo.States):
    """L'Ecuyer's MRG32k3a. Parameters and headers: see :class:`XORWOWRandomNumberGenerator`."""

    _name = "MRG32k3a"
    _skips = pseudo.SKIPS

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)

    def call_skip_ahead_subsequence(self, i: Int, stream: StreamLike = None) -> None:
        """Skip `i` subsequences in each of the generators."""
        self._skip("skip_ahead_subsequence", i, stream)

    def call_skip_ahead_subsequence_array(
        self, i: core.GPUArray, stream: StreamLike = None
    ) -> None:
        """Skip i[s] subsequences in generator s. See :meth:`call_skip_ahead_array`."""
        self._skip_array("skip_ahead_subsequence", i, stream)


def _repeated(table: HostArray, count: Int) -> core.GPUArray:
    """The first `count` rows of a table that starts again at its end, on the device."""
    count = integer("count", count)
    if count < 0:
        raise ValueError(f"count={count}: expected a number that is not negative")
    return core.to_gpu(table[np.arange(count) % len(table)])


def generate_direction_vectors(
    count: Int, direction: direction_vector_set = direction_vector_set.VECTOR_32
) -> core.GPUArray:
    """Direction vectors of Sobol's sequences by Joe and Kuo, from cuRAND's (or rocRAND's) tables.

    Parameters
    ----------
    count : int
        How many; beyond 20000 they repeat.
    direction : direction_vector_set

    Returns
    -------
    GPUArray
        uint32 (count, 32) or uint64 (count, 64).

    Raises
    ------
    NotImplementedError
        Without cuRAND or a rocRAND that has them.
    """
    chosen = direction_vector_set(direction)
    bits = 32 if chosen <= direction_vector_set.SCRAMBLED_VECTOR_32 else 64
    return _repeated(curand.table("vectors", bits, int(chosen)), count)


def generate_scramble_constants32(count: Int) -> core.GPUArray:
    """`count` constants for scrambled sequences: uint32. See generate_direction_vectors."""
    return _repeated(curand.table("constants", 32), count)


def generate_scramble_constants64(count: Int) -> core.GPUArray:
    """`count` constants for scrambled sequences: uint64. See generate_direction_vectors."""
    return _repeated(curand.table("constants", 64), count)


def _vectors(given: core.GPUArray | None, table: direction_vector_set) -> core.GPUArray:
    """The caller's direction vectors, or as many of a table as keep the device busy."""
    return generate_direction_vectors(sobol.default_count(), table) if given is None else given


class Sobol32RandomNumberGenerator(sobol.Sequence):
    """Sobol's sequences of 32 bits, side by side: quasi-random, by PyGPU's own kernels.

    Element k of a fill is the next number of sequence k % N, so that an array of shape (points, N)
    is filled with points.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        uint32 (N, 32): the direction vectors of N sequences. Default: those of cuRAND.
    offset : int
        Numbers that each sequence skips at first.

    Raises
    ------
    TypeError
        For vectors of another dtype or shape.
    NotImplementedError
        Without vectors, where cuRAND (or rocRAND of ROCm 6) is not installed.
    """

    def __init__(self, dir_vector: core.GPUArray | None = None, offset: int = 0) -> None:
        vectors = _vectors(dir_vector, direction_vector_set.VECTOR_32)
        super().__init__(vectors, None, offset)


class ScrambledSobol32RandomNumberGenerator(sobol.Sequence):
    """:class:`Sobol32RandomNumberGenerator` whose numbers are scrambled.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        uint32 (N, 32).
    scramble_vector : GPUArray, optional
        uint32 (N,): every number of a sequence is its exclusive or with this. Default: cuRAND's.
    offset : int
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
    """Sobol's sequences of 64 bits. See :class:`Sobol32RandomNumberGenerator`.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        uint64 (N, 64).
    offset : int
    """

    generator_bits = 64
    _uniform_dtypes = ("f4", "f8", "i4", "u4", "i8", "u8")

    def __init__(self, dir_vector: core.GPUArray | None = None, offset: int = 0) -> None:
        vectors = _vectors(dir_vector, direction_vector_set.VECTOR_64)
        super().__init__(vectors, None, offset)


class ScrambledSobol64RandomNumberGenerator(sobol.Sequence):
    """Scrambled sequences of 64 bits. See :class:`ScrambledSobol32RandomNumberGenerator`.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        uint64 (N, 64).
    scramble_vector : GPUArray, optional
        uint64 (N,).
    offset : int
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
