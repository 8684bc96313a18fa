"""The generator Philox4x32-10, and arrays of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._random import philox
from PyGPU._random.generators import Fill, Generator, count_of, seeds_of, vector
from PyGPU._random.seeds import random_key
from PyGPU._runtime import core, docstrings, integer

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, Int, SeedGetter, Shape, StreamLike


class Philox4x32RandomNumberGenerator(Generator):
    """The counter-based generator Philox4x32-10 (Salmon and others, SC11).

    Its numbers depend on the seed and on the numbers drawn or skipped before, not on the device,
    the launch shape or the target. Uniform numbers are identical to the last bit. The sequence
    consists of 32-bit words. Each fill continues where the previous one ended:

    - a float32 or a 4-byte integer uses one word, an 8-byte type two;
    - a uniform float16 uses half a word, a normal float16 one;
    - a Poisson number uses four words.

    :param seed_getter: Returns the seed as an int32 GPUArray of length 1. By default,
        ``numpy.random`` makes it.
    :param offset: Words to skip at the start.
    :param seed: The seed itself (64 bits), instead of a getter.

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
        super().__init__()
        if seed is not None:
            if seed_getter is not None:
                raise TypeError("seed: expected either seed or seed_getter, got both")
            key = integer("seed", seed)
        elif seed_getter is not None:
            key = int(seeds_of(seed_getter, 1, "pass a seed itself by seed=").get()[0])
        else:
            key = random_key()
        self._key = key % 2**64
        self._word = count_of("offset", offset)
        self._sequence = 0

    def _launch(self, fill: Fill) -> None:
        kind = fill.distribution, fill.code
        with self._order.turn():  # reserves words; the numbers do not depend on the stream
            word, sequence = self._word, self._sequence
            self._word = philox.word_after(*kind, word, fill.data.size)
        philox.fill(*kind, fill.data, self._key, word, sequence, fill.parameters, fill.stream)

    def call_skip_ahead(self, i: Int, stream: StreamLike = None) -> None:
        """Skip words of the sequence.

        :param i: Number of 32-bit words.
        :param stream: Ignored.
        """
        self._skip(count_of("i", i), 0)

    def call_skip_ahead_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip words of the sequence; their number is in device memory.

        :param i: uint64, shape (1,): number of 32-bit words.
        :param stream: Ignored.
        """
        self._skip(self._read(i), 0)

    def call_skip_ahead_sequence(self, i: Int, stream: StreamLike = None) -> None:
        """Go to the same position of a later sequence; there are 2**32 sequences.

        :param i: Number of sequences to skip.
        :param stream: Ignored.
        """
        self._skip(0, count_of("i", i))

    def call_skip_ahead_sequence_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Go to the same position of a later sequence; the distance is in device memory.

        :param i: uint64, shape (1,): number of sequences to skip.
        :param stream: Ignored.
        """
        self._skip(0, self._read(i))

    def _skip(self, words: int, sequences: int) -> None:
        with self._order.turn():
            self._word += words
            self._sequence += sequences

    @staticmethod
    def _read(i: core.GPUArray) -> int:
        return int(vector("i", i, np.uint64, (1,)).get()[0])


def rand(
    shape: Shape,
    dtype: DTypeLike = np.float32,
    stream: StreamLike = None,
    *,
    device: Int | None = None,
) -> core.GPUArray:
    """Return an array of uniform random numbers in [0, 1), or of random integers.

    The generator is Philox4x32-10 with a seed from ``numpy.random``, so ``numpy.random.seed`` makes
    the numbers reproducible.

    :param shape:
    :param dtype: float16, float32, float64, or an integer of 32 or 64 bits, all of whose bits are
        random.
    :param stream: Stream of the kernel, the null stream by default.
    :param int or Device device: Device of the array; the current device by default.
    :returns: The numbers.
    :raises NotImplementedError: If `dtype` is another one.

    >>> import PyGPU.curandom as curandom
    >>> a = curandom.rand((2, 3), np.float32).get()
    >>> a.shape, bool((a < 1).all())
    ((2, 3), True)
    """
    if device is not None:
        with core.device(device):
            return rand(shape, dtype, stream)
    dtype = np.dtype(dtype)
    name, code = Philox4x32RandomNumberGenerator._kind("uniform", dtype)
    made = core.GPUArray(shape, dtype)
    distribution = "half_open" if name == "uniform" else name
    philox.fill(distribution, code, made, random_key(), word=0, sequence=0, stream=stream)
    return made


docstrings.complete(__name__)
