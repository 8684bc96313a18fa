"""Random numbers on the device: the names of ``pycuda.curandom``.

``rand`` and ``Philox4x32RandomNumberGenerator`` are PyGPU's own and need no library. The same seed
gives the same uniform numbers on every target and device, and for every launch shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._random import curand, philox, pseudo
from PyGPU._random.generators import Fill, Generator, count_of, seeds_of, vector
from PyGPU._random.sobol_generators import (
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
    direction_vector_set,
    generate_direction_vectors,
    generate_scramble_constants32,
    generate_scramble_constants64,
)
from PyGPU._runtime.arguments import integer
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, Int, SeedGetter, Shape, StreamLike

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


def get_curand_version() -> tuple[int, int, int] | None:
    """Return the version of the installed cuRAND, or of rocRAND on AMD.

    Returns
    -------
    tuple of int or None
        (major, minor, revision); None if the library is not installed.

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> version = curandom.get_curand_version()
    >>> version is None or len(version) == 3
    True
    """
    return curand.version()


def seed_getter_uniform(n: int) -> core.GPUArray:
    """Return one seed from ``numpy.random``, repeated.

    Parameters
    ----------
    n : int
        Length of the result.

    Returns
    -------
    GPUArray
        int32, shape (n,).

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> seeds = curandom.seed_getter_uniform(4).get()
    >>> bool((seeds == seeds[0]).all())
    True
    """
    return core.to_gpu(np.full(n, np.random.randint(0, 2**31 - 1), np.int32))


def seed_getter_unique(n: int) -> core.GPUArray:
    """Return independent seeds from ``numpy.random``.

    Parameters
    ----------
    n : int
        Number of seeds.

    Returns
    -------
    GPUArray
        int32, shape (n,).

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> curandom.seed_getter_unique(4).shape
    (4,)
    """
    return core.to_gpu(np.random.randint(0, 2**31 - 1, n).astype(np.int32))


class Philox4x32RandomNumberGenerator(Generator):
    """The counter-based generator Philox4x32-10 (Salmon and others, SC11).

    Its numbers depend on the seed and on the numbers drawn or skipped before, not on the device,
    the launch shape or the target. Uniform numbers are identical to the last bit. The sequence
    consists of 32-bit words. Each fill continues where the previous one ended:

    - a float32 or a 4-byte integer uses one word, an 8-byte type two;
    - a uniform float16 uses half a word, a normal float16 one;
    - a Poisson number uses four words.

    Parameters
    ----------
    seed_getter : callable(int), optional
        Returns the seed as an int32 GPUArray of length 1. By default, ``numpy.random`` makes it.
    offset : int, optional
        Words to skip at the start.
    seed : int, optional
        The seed itself (64 bits), instead of a getter.

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.Philox4x32RandomNumberGenerator(seed=1)
    >>> generator.gen_uniform(2, "uint32").get()
    array([3823634032, 3842641596], dtype=uint32)
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
            key = int(seeds_of(seed_getter, 1, "pass a seed itself by seed=").get()[0])
        else:
            key = _random_key()
        self._key = key % 2**64
        self._word = count_of("offset", offset)
        self._sequence = 0

    def _launch(self, fill: Fill) -> None:
        position = (self._key, self._word, self._sequence)
        target = fill.distribution, fill.code, fill.data
        self._word = philox.fill(*target, *position, fill.parameters, fill.stream)

    def call_skip_ahead(self, i: Int, stream: StreamLike = None) -> None:
        """Skip words of the sequence.

        Parameters
        ----------
        i : int
            Number of 32-bit words.
        stream : Stream, optional
            Ignored.
        """
        self._word += count_of("i", i)

    def call_skip_ahead_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip words of the sequence; their number is in device memory.

        Parameters
        ----------
        i : GPUArray
            uint64, shape (1,): number of 32-bit words.
        stream : Stream, optional
            Ignored.
        """
        self._word += self._read(i)

    def call_skip_ahead_sequence(self, i: Int, stream: StreamLike = None) -> None:
        """Go to the same position of a later sequence; there are 2**32 sequences.

        Parameters
        ----------
        i : int
            Number of sequences to skip.
        stream : Stream, optional
            Ignored.
        """
        self._sequence += count_of("i", i)

    def call_skip_ahead_sequence_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Go to the same position of a later sequence; the distance is in device memory.

        Parameters
        ----------
        i : GPUArray
            uint64, shape (1,): number of sequences to skip.
        stream : Stream, optional
            Ignored.
        """
        self._sequence += self._read(i)

    @staticmethod
    def _read(i: core.GPUArray) -> int:
        return int(vector("i", i, np.uint64, (1,)).get()[0])


#: Returns the bit generator of ``numpy.random``; NumPy has the function from 1.24 on.
_bit_generator = getattr(np.random, "get_bit_generator", None)


def _random_key() -> int:
    """Return 64 bits from ``numpy.random``."""
    generator = _bit_generator and _bit_generator()
    if type(generator) is np.random.MT19937:  # the words that randint would return, but faster
        low, high = generator.random_raw(), generator.random_raw()
    else:
        low, high = np.random.randint(0, 2**32, 2, np.uint64)
    return int(high) << 32 | int(low)


def rand(shape: Shape, dtype: DTypeLike = np.float32, stream: StreamLike = None) -> core.GPUArray:
    """Return an array of uniform random numbers in [0, 1), or of random integers.

    The generator is Philox4x32-10 with a seed from ``numpy.random``, so ``numpy.random.seed`` makes
    the numbers reproducible.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype, optional
        float16, float32, float64, or an integer of 32 or 64 bits, all of whose bits are random.
    stream : Stream, optional
        Stream of the kernel, the null stream by default.

    Returns
    -------
    GPUArray
        The numbers.

    Raises
    ------
    NotImplementedError
        If `dtype` is another one.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.curandom as curandom
    >>> a = curandom.rand((2, 3), np.float32).get()
    >>> a.shape, bool((a < 1).all())
    ((2, 3), True)
    """
    dtype = np.dtype(dtype)
    name, code = Philox4x32RandomNumberGenerator._kind("uniform", dtype)
    made = core.GPUArray(shape, dtype)
    distribution = "half_open" if name == "uniform" else name
    philox.fill(distribution, code, made, _random_key(), word=0, sequence=0, stream=stream)
    return made


class XORWOWRandomNumberGenerator(pseudo.States):
    """Marsaglia's generator XORWOW, by the device functions of curand_kernel.h.

    Many generators work in parallel; generator i has seed i and sequence i. Integers and uniform
    numbers equal cuRAND's to the last bit on every target. ``backend`` is the header in use:
    NVIDIA's ("curand") or PyGPU's ("pygpu").

    Parameters
    ----------
    seed_getter : callable(int), optional
        Returns that many seeds as an int32 GPUArray. :func:`seed_getter_unique` by default.
    offset : int, optional
        Numbers that each generator skips at the start.

    Raises
    ------
    TypeError
        If the getter returns anything else.

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.XORWOWRandomNumberGenerator()
    >>> generator.gen_uniform(4, "float32").shape
    (4,)
    """

    _name = "XORWOW"

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)


class MRG32k3aRandomNumberGenerator(pseudo.States):
    """L'Ecuyer's generator MRG32k3a, by the device functions of curand_kernel.h.

    Parameters
    ----------
    seed_getter : callable(int), optional
        Returns that many seeds as an int32 GPUArray. :func:`seed_getter_unique` by default.
    offset : int, optional
        Numbers that each generator skips at the start.

    See Also
    --------
    XORWOWRandomNumberGenerator : The same interface and headers.

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.MRG32k3aRandomNumberGenerator()
    >>> generator.gen_normal(4, "float32").shape
    (4,)
    """

    _name = "MRG32k3a"
    _skips = pseudo.SKIPS

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)

    def call_skip_ahead_subsequence(self, i: Int, stream: StreamLike = None) -> None:
        """Skip subsequences in each generator.

        Parameters
        ----------
        i : int
            Number of subsequences.
        stream : Stream, optional
            The null stream by default.
        """
        self._skip("skip_ahead_subsequence", i, stream)

    def call_skip_ahead_subsequence_array(
        self, i: core.GPUArray, stream: StreamLike = None
    ) -> None:
        """Skip a different number of subsequences in each generator.

        Parameters
        ----------
        i : GPUArray
            uint64; element s is the number of subsequences for generator s.
        stream : Stream, optional
            The null stream by default.
        """
        self._skip_array("skip_ahead_subsequence", i, stream)
