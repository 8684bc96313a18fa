"""Fills by Philox4x32-10: number k depends on the key and its position only.

The launch shape, the device and the target do not matter.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._driver import Program
from PyGPU._kernels import helpers
from PyGPU._random import text as _random_text
from PyGPU._random.generators import Fill, Generator, count_of, random_key, seeds_of, vector
from PyGPU._runtime import capabilities, core, docstrings, integer

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, GPUArray, Int, SeedGetter, Shape, StreamLike

_BLOCK = 256
_COUNTERS = 2  # counters per thread; they share the arithmetic of the key
# If the threads of a block run one after another, one thread does a block's work, in a loop that
# the compiler vectorizes.
_IS_SERIAL = capabilities.runs_threads_serially
_HOST_COUNTERS = 4096  # counters of a thread on the host machine

_FLOATS = """
    const float2 z0 = P_normal_pair(w[0], w[1]), z1 = P_normal_pair(w[2], w[3]);
    const float z[4] = {z0.x, z0.y, z1.x, z1.y};"""
_DOUBLES = """
    const double2 z0 = P_normal_pair(P_join(w[0], w[1]), P_join(w[2], w[3]));
    const double z[2] = {z0.x, z0.y};"""
_HALF_WORD = "w[k / 2] << (k % 2 ? 0 : 16)"
_WIDE_WORD = "P_join(w[2 * k], w[2 * k + 1])"

# {(distribution, dtype): (type in memory, numbers per counter, statements before, value of
# number k)}
_KINDS: dict[tuple[str, str], tuple[str, int, str, str]] = {
    ("bits", "u4"): ("unsigned", 4, "", "w[k]"),
    ("bits", "u8"): ("unsigned long long", 2, "", _WIDE_WORD),
    ("normal", "f2"): ("half", 4, _FLOATS, "__float2half(z[k])"),
    ("normal", "f4"): ("float", 4, _FLOATS, "z[k]"),
    ("normal", "f8"): ("double", 2, _DOUBLES, "z[k]"),
    ("log_normal", "f2"): ("half", 4, _FLOATS, "__float2half(P_exp(mean + stddev * z[k]))"),
    ("log_normal", "f4"): ("float", 4, _FLOATS, "P_exp(mean + stddev * z[k])"),
    ("log_normal", "f8"): ("double", 2, _DOUBLES, "P_exp(mean + stddev * z[k])"),
}
for _name, _closed in (("uniform", 1), ("half_open", 0)):
    _KINDS[_name, "f2"] = ("half", 8, "", f"__float2half(P_float11({_HALF_WORD}, {_closed}))")
    _KINDS[_name, "f4"] = ("float", 4, "", f"P_float(w[k], {_closed})")
    _KINDS[_name, "f8"] = ("double", 2, "", f"P_double({_WIDE_WORD}, {_closed})")
_POISSON = {"u4": "unsigned", "f4": "float", "f8": "double"}
_EXTRA = {  # {distribution: {dtype: (type of its parameters, their characters for prepare())}}
    "log_normal": {"f2": ("float", "ff"), "f4": ("float", "ff"), "f8": ("double", "dd")},
}

_COMMON = "long long n, unsigned long long first, unsigned shift, unsigned sequence, uint2 key"


def _fill_text(distribution: str, code: str, is_serial: bool) -> str:
    c_type, per, before, value = _KINDS[distribution, code]
    extra = _EXTRA.get(distribution, {}).get(code)
    parameters = f", {extra[0]} mean, {extra[0]} stddev" if extra else ""
    given = ", mean, stddev" if extra else ""
    draw = "P_draw(first + {}, sequence, key" + given + ")"
    body = _run_body(per, draw) if is_serial else _packed_body(per, draw)
    return f"""
struct alignas({per * int(code[1])}) P_pack {{ {c_type} item[{per}]; }};
__device__ inline P_pack P_draw(unsigned long long c, unsigned sequence, uint2 key{parameters}) {{
  const uint4 words = P_philox4x32_10(make_uint4(unsigned(c), unsigned(c >> 32), sequence, 0), key);
  const unsigned w[4] = {{words.x, words.y, words.z, words.w}};{before}
  P_pack pack;
  #pragma unroll
  for (int k = 0; k < {per}; ++k) pack.item[k] = {value};
  return pack;
}}
extern "C" __global__ void fill({c_type} *out, {_COMMON}{parameters}) {{
  out -= shift;
  n += shift;{body}
}}
"""


def _packed_body(per: int, draw: str) -> str:
    """Return a kernel body whose threads store 16 bytes at once (8 for four halves)."""
    return f"""
  const long long start = (long long)blockIdx.x * {_BLOCK * _COUNTERS};
  const long long thread = start + threadIdx.x;
  if (thread * {per} >= n) return;
  P_pack pack[{_COUNTERS}];
  #pragma unroll
  for (int step = 0; step < {_COUNTERS}; ++step)
    pack[step] = {draw.format(f"(thread + step * {_BLOCK})")};
  if ((start + {_BLOCK * _COUNTERS}) * {per} <= n && (start || !shift) &&
      (size_t)out % sizeof(P_pack) == 0) {{
    #pragma unroll
    for (int step = 0; step < {_COUNTERS}; ++step)
      ((P_pack *)out)[thread + step * {_BLOCK}] = pack[step];
    return;
  }}
  #pragma unroll
  for (int step = 0; step < {_COUNTERS}; ++step) {{
    #pragma unroll
    for (int k = 0; k < {per}; ++k) {{
      const long long at = (thread + step * {_BLOCK}) * {per} + k;
      if (at >= shift && at < n) out[at] = pack[step].item[k];
    }}
  }}"""


def _run_body(per: int, draw: str) -> str:
    """Return a kernel body whose thread loops over many counters.

    The numbers of the first and the last counter may be outside the array in part.
    """
    return f"""
  const long long start = (long long)blockIdx.x * {_HOST_COUNTERS}, end = start + {_HOST_COUNTERS};
  const long long whole = n / {per}, last = whole < end ? whole : end;
  const long long second = start == 0 && shift ? 1 : start;
  #pragma GCC ivdep
  for (long long c = second; c < last; ++c) {{
    const P_pack pack = {draw.format("c")};
    for (int k = 0; k < {per}; ++k) out[c * {per} + k] = pack.item[k];
  }}
  for (int is_last = 0; is_last < 2; ++is_last) {{
    const long long c = is_last ? whole : 0;
    if (c < start || c >= end || (c >= second && c < last)) continue;
    const P_pack pack = {draw.format("c")};
    for (int k = 0; k < {per}; ++k)
      if (c * {per} + k >= shift && c * {per} + k < n) out[c * {per} + k] = pack.item[k];
  }}"""


def _poisson_text(c_type: str, mean: str) -> str:
    """Return a kernel whose threads draw a varying number of times, counted by the fourth word."""
    parameters = ", double mean" if mean == "mean" else ""
    return f"""
struct P_draws {{
  uint4 counter;
  uint2 key;
  __device__ double2 next() {{
    const uint4 w = P_philox4x32_10(counter, key);
    ++counter.w;
    return make_double2(P_middle(P_join(w.x, w.y)), P_middle(P_join(w.z, w.w)));
  }}
}};
extern "C" __global__ void fill({c_type} *out, {_COMMON}{parameters}) {{
  const long long at = (long long)blockIdx.x * {_BLOCK} + threadIdx.x;
  if (at >= n) return;
  const unsigned long long c = first + at;
  P_draws draws = {{make_uint4(unsigned(c), unsigned(c >> 32), sequence, 0), key}};
  P_store(out + at, P_poisson(draws, {mean}));
}}
"""


def text(distribution: str, code: str, is_serial: bool = False) -> str:
    """Return the text of the kernel ``fill`` of a distribution and a dtype such as "f4"."""
    parts = [_random_text.PHILOX, _random_text.UNIFORM]
    if distribution.startswith("poisson"):
        mean = "mean" if distribution == "poisson" else "double(out[at])"
        parts += [_random_text.POISSON, _poisson_text(_POISSON[code], mean)]
    else:
        fill_text = _fill_text(distribution, code, is_serial)
        if "normal" in distribution:
            called = helpers((_random_text.NORMAL, fill_text), is_complex=False)
            parts += [called, _random_text.NORMAL]
        parts.append(fill_text)
    return "".join((["#include <cuda_fp16.h>\n"] if code == "f2" else []) + parts)


def _numbers_per_counter(distribution: str, code: str) -> int:
    return 1 if distribution.startswith("poisson") else _KINDS[distribution, code][1]


@functools.cache
def _kernel(distribution: str, code: str) -> tuple[Program, int, int, int]:
    """Return (program, numbers per counter, threads per block, numbers per block)."""
    per = _numbers_per_counter(distribution, code)
    if distribution.startswith("poisson"):
        extra = "d" if distribution == "poisson" else ""
        program = Program(text(distribution, code), fill="PqQIIQ" + extra)
        return program, per, _BLOCK, _BLOCK
    extra = _EXTRA.get(distribution, {}).get(code, ("", ""))[1]
    program = Program(
        text(distribution, code, _IS_SERIAL),
        *(("-O3",) if _IS_SERIAL else ()),
        fill="PqQIIQ" + extra,
    )
    threads, counters = (1, _HOST_COUNTERS) if _IS_SERIAL else (_BLOCK, _BLOCK * _COUNTERS)
    return program, per, threads, per * counters


def word_after(distribution: str, code: str, word: int, size: int) -> int:
    """Return the word after the last one that `fill` uses for `size` numbers."""
    per = _numbers_per_counter(distribution, code)
    return -(-(-(-word * per // 4) + size) * 4 // per)


def fill_words(
    distribution: str,
    code: str,
    data: GPUArray,
    key: int,
    word: int,
    sequence: int,
    parameters: tuple[float, ...] = (),
    stream: StreamLike = None,
) -> None:
    """Fill a contiguous array from a position in the sequence of 32-bit words.

    The distribution is "bits", "uniform" in (0, 1], "half_open" in [0, 1), "normal", "log_normal"
    (mean, stddev), "poisson" (mean), or "poisson_of", whose means are the elements of the array.
    `code` is the loop dtype: "f2", "f4", "f8", "u4" or "u8". Numbers of 2, 4 and 8 bytes use half a
    word, one and two; a normal number of 2 bytes uses one, a Poisson number four.
    """
    size = data.size
    if size == 0:
        return
    program, per, threads, in_block = _kernel(distribution, code)
    number = -(-word * per // 4)
    first, shift = divmod(number, per)
    (launch,) = program()
    launch(
        (-(-(shift + size) // in_block), 1),
        (threads, 1, 1),
        stream,
        *(data, size, first % 2**64, shift, sequence % 2**32, key),
        *parameters,
    )


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
            self._word = word_after(*kind, word, fill.data.size)
        fill_words(*kind, fill.data, self._key, word, sequence, fill.parameters, fill.stream)

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
    fill_words(distribution, code, made, random_key(), word=0, sequence=0, stream=stream)
    return made


docstrings.complete(__name__)
