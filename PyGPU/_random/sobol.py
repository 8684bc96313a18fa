"""Sobol's quasi-random sequences from given direction vectors, in Gray code order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import Device, Function, SourceModule, enums
from PyGPU._random import curand
from PyGPU._random import text as _random_text
from PyGPU._random.generators import Fill, Generator, count_of, vector
from PyGPU._runtime import context_dependent_memoize, core, docstrings, integer
from PyGPU._runtime import state as _driver_state

if TYPE_CHECKING:
    from PyGPU._types import HostArray, Int, SeedGetter, StreamLike

_BLOCK = 256

# Point n is the XOR of the vectors at the set bits of its Gray code n ^ n / 2 (Antonov and Saleev
# 1979). A thread computes every 2^slots-th point: between two of them, the code changes in one bit
# at or above `slots` and in the highest bit below.
_COMMON = """
__device__ inline int P_lowest(unsigned x) { return __ffs(int(x)) - 1; }
__device__ inline int P_lowest(unsigned long long x) { return __ffsll((long long)x) - 1; }
__device__ inline P_word P_point(const P_word *vectors, P_word n) {
  P_word x = 0;
  for (n ^= n >> 1; n; n &= n - 1) x ^= vectors[P_lowest(n)];
  return x;
}
__device__ inline unsigned P_high(unsigned x) { return x; }
__device__ inline unsigned P_high(unsigned long long x) { return unsigned(x >> 32); }
__device__ inline double P_wide_middle(unsigned x) { return PyGPU::P_random::P_wide_middle(x); }
__device__ inline double P_wide_middle(unsigned long long x) { return P_middle(x); }
// By inversion, from the nearer end, where numbers are dense.
__device__ inline float P_normal(P_word x, float) {
  const unsigned high = P_high(x);
  return high >> 31 ? -normcdfinvf(P_middle(~high)) : normcdfinvf(P_middle(high));
}
__device__ inline double P_normal(P_word x, double) {
  const bool upper = x >> (P_BITS - 1);
  const double z = normcdfinv(P_wide_middle(upper ? ~x : x));
  return upper ? -z : z;
}
// Large means by the expansion of Cornish and Fisher, in the form of Giles, "Algorithm 955"
// (2016): off by one with a probability below 1e-6.
__device__ inline double P_poisson(P_word x, double mean) {
  if (!(mean >= 0.0 && mean < 1e300)) return nan("");
  if (mean < 400.0) return P_poisson_search(P_wide_middle(x), mean);
  const double w = P_normal(x, 0.0), w2 = w * w, root = sqrt(mean);
  return floor(mean + root * w + (2.0 + w2) / 6.0 - w * (2.0 + w2) / (72.0 * root) +
               (-16.0 / 810 + w2 * (7.0 / 810) + w2 * w2 / 270.0) / mean);
}

extern "C" __global__ void skip(P_word *positions, int count, const P_word *each, P_word all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) positions[i] += each ? each[i] : all;
}
extern "C" __global__ void advance(P_word *positions, int count, long long n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && i < n) positions[i] += P_word((n - i + count - 1) / count);
}
"""


def _fill_text(name: str, c_type: str, store: str, parameters: str = "") -> str:
    return f"""
extern "C" __global__ void {name}(const P_word *positions, const P_word *vectors,
                                  const P_word *constants, int count, int slots, {c_type} *out,
                                  long long n{parameters}) {{
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long step = (long long)count << slots;
  if (thread >= step || thread >= n) return;
  const int i = int(thread % count);
  vectors += (long long)i * P_BITS;
  P_word at = positions[i] + P_word(thread / count);
  P_word x = constants[i] ^ P_point(vectors, at);
  const P_word below = slots ? vectors[slots - 1] : P_word(0);
  for (long long k = thread;; ) {{
    {store};
    if ((k += step) >= n) return;
    const int bit = slots + P_lowest(~(at >> slots));
    x ^= vectors[bit < P_BITS ? bit : P_BITS - 1] ^ below;
    at += P_word(1) << slots;
  }}
}}
"""


_LOG_NORMAL = {
    "float": "out[k] = expf(mean + stddev * P_normal(x, 0.0f))",
    "double": "out[k] = exp(mean + stddev * P_normal(x, 0.0))",
}
_KERNELS = {
    "bits_u4": ("unsigned", "out[k] = P_high(x)", ""),
    "uniform_f4": ("float", "out[k] = P_middle(P_high(x))", ""),
    "uniform_f8": ("double", "out[k] = P_wide_middle(x)", ""),
    "normal_f4": ("float", "out[k] = P_normal(x, 0.0f)", ""),
    "normal_f8": ("double", "out[k] = P_normal(x, 0.0)", ""),
    "log_normal_f4": ("float", _LOG_NORMAL["float"], ", float mean, float stddev"),
    "log_normal_f8": ("double", _LOG_NORMAL["double"], ", double mean, double stddev"),
    "poisson_u4": ("unsigned", "P_store(out + k, P_poisson(x, mean))", ", double mean"),
    "poisson_of_f4": ("float", "P_store(out + k, P_poisson(x, out[k]))", ""),
    "poisson_of_f8": ("double", "P_store(out + k, P_poisson(x, out[k]))", ""),
    "poisson_of_u4": ("unsigned", "P_store(out + k, P_poisson(x, out[k]))", ""),
}
_WIDE = {"bits_u8": ("unsigned long long", "out[k] = x", "")}
_TYPES = {"float": "f", "double": "d"}


def kernels(bits: int) -> dict[str, tuple[str, str, str]]:
    """Return {name: (type in memory, statement, parameters)} for sequences of 32 or 64 bits."""
    return _KERNELS if bits == 32 else {**_KERNELS, **_WIDE}


def text(bits: int) -> str:
    """Return the text of all kernels for sequences of 32 or 64 bits."""
    word = "unsigned" if bits == 32 else "unsigned long long"
    return "".join(
        [f"typedef {word} P_word;\n#define P_BITS {bits}\n"]
        + [_random_text.UNIFORM, _random_text.POISSON, _COMMON]
        + [_fill_text(name, *kind) for name, kind in kernels(bits).items()]
    )


@context_dependent_memoize
def _compiled(bits: int) -> tuple[SourceModule, dict[str, Function]]:
    """Return the module and {name: prepared kernel}."""
    module = SourceModule(text(bits), options=[], no_extern_c=True)
    word = "I" if bits == 32 else "Q"
    functions = {
        name: module.get_function(name).prepare("PPPiiPq" + _arguments(parameters))
        for name, (_, _, parameters) in kernels(bits).items()
    }
    functions["skip"] = module.get_function("skip").prepare("PiP" + word)
    functions["advance"] = module.get_function("advance").prepare("Piq")
    return module, functions


def _arguments(parameters: str) -> str:
    return "".join(_TYPES[one.split()[0]] for one in parameters.split(",")[1:])


def _default_counts() -> tuple[int, int]:
    """Return (blocks, sequences per block) that keep the device busy without repeated sequences."""
    device = Device(_driver_state.current_device())
    blocks = device.get_attribute(enums.device_attribute.MULTIPROCESSOR_COUNT)
    return blocks, max(1, min(_BLOCK, curand.DIMENSIONS // blocks))


def default_count() -> int:
    """Return the number of sequences if the caller passes no vectors."""
    blocks, threads = _default_counts()
    return blocks * threads


class Sequence(Generator):
    """Parallel Sobol sequences: element k of a fill belongs to sequence k % count.

    :param vectors: Direction vectors, shape (count, bits).
    :param GPUArray, callable(int) or None constants: Scramble constants, shape (count,), or a
        function that returns them.
    :param offset: Numbers that each sequence skips at the start.
    """

    has_box_muller = False
    _threads = 1 << 18  # enough to fill any device

    def __init__(
        self, vectors: core.GPUArray, constants: core.GPUArray | SeedGetter | None, offset: int
    ) -> None:
        super().__init__()
        bits, offset = self.generator_bits, count_of("offset", offset)
        word = np.dtype(f"u{bits // 8}")
        count = vectors.shape[0] if isinstance(vectors, core.GPUArray) and vectors.ndim else 1
        count = max(count, 1)
        self._vectors = vector("dir_vector", vectors, word, (count, bits)).copy()
        if constants is None:
            constants = core.zeros((count,), word)
        elif callable(constants):
            constants = constants(count)
        self._constants = vector("scramble_vector", constants, word, (count,)).copy()
        blocks, threads = _default_counts()
        usual = blocks * threads == count
        self.block_count, self.generators_per_block = (blocks, threads) if usual else (1, count)
        self._count = count
        self.module, self.generators = _compiled(bits)
        self._positions = core.zeros((count,), word)
        self.call_skip_ahead(offset)

    @property
    def state(self) -> Any:
        """Device memory of the position in each sequence."""
        return self._positions.gpudata

    def call_skip_ahead(self, i: Int, stream: StreamLike = None) -> None:
        """Skip numbers in each sequence.

        :param i: Amount of numbers.
        :param stream:
        """
        number = count_of("i", i) % (1 << self.generator_bits)
        if number:
            self._skip(stream, 0, number)

    def call_skip_ahead_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip a different amount of numbers in each sequence.

        :param i: uint32 (64-bit sequences: uint64), one element per sequence.
        :param stream:
        :raises TypeError: If the array has another dtype or shape.
        """
        each = vector("i", i, self._positions.dtype, (self._count,))
        self._skip(stream, each, 0)

    def __getstate__(self) -> dict[str, Any]:
        with self._order.turn(None, self._positions.device):  # a copy reads by the null stream
            return vars(self).copy()

    def _skip(self, stream: StreamLike, each: core.GPUArray | int, number: int) -> None:
        with self._order.turn(stream, self._positions.device):
            self._call("skip", self._count, stream, self._positions, self._count, each, number)

    def _call(self, name: str, threads: int, stream: StreamLike, *arguments: Any) -> None:
        blocks = -(-threads // _BLOCK)
        self.generators[name].prepared_async_call((blocks, 1), (_BLOCK, 1, 1), stream, *arguments)

    def _launch(self, fill: Fill) -> None:
        size = fill.data.size
        points = -(-size // self._count)
        wanted = min(points, max(1, self._threads // self._count))
        slots = wanted.bit_length() - 1
        with self._order.turn(fill.stream, self._positions.device):
            self._call(
                fill.kernel,
                min(self._count << slots, size),
                fill.stream,
                *(self._positions, self._vectors, self._constants, self._count, slots),
                *(fill.data, size),
                *fill.parameters,
            )
            self._call("advance", self._count, fill.stream, self._positions, self._count, size)


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
    """
    chosen = direction_vector_set(direction)
    bits = 32 if chosen <= direction_vector_set.SCRAMBLED_VECTOR_32 else 64
    return _repeated(curand.table("vectors", bits, int(chosen)), count)


def generate_scramble_constants32(count: Int) -> core.GPUArray:
    """Return constants for scrambled Sobol sequences of 32 bits.

    :param count: Number of constants. The table has 20000 constants and is repeated.
    :returns: uint32, shape (count,).
    :raises NotImplementedError: If neither cuRAND nor a rocRAND with these tables is installed.
    """
    return _repeated(curand.table("constants", 32), count)


def generate_scramble_constants64(count: Int) -> core.GPUArray:
    """Return constants for scrambled Sobol sequences of 64 bits.

    :param count: Number of constants. The table has 20000 constants and is repeated.
    :returns: uint64, shape (count,).
    :raises NotImplementedError: If neither cuRAND nor a rocRAND with these tables is installed.
    """
    return _repeated(curand.table("constants", 64), count)


def _vectors(given: core.GPUArray | None, table: direction_vector_set) -> core.GPUArray:
    """Return `given` or, if it is None, as many vectors of a table as keep the device busy."""
    return generate_direction_vectors(default_count(), table) if given is None else given


class Sobol32RandomNumberGenerator(Sequence):
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


class ScrambledSobol32RandomNumberGenerator(Sequence):
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


class Sobol64RandomNumberGenerator(Sequence):
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


class ScrambledSobol64RandomNumberGenerator(Sequence):
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
