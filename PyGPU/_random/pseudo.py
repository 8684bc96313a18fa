"""Pseudo-random generators with a state for each thread: cuRAND's, rocRAND's, or Philox in their
place."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import compiler
from PyGPU._driver import Device, Function, enums, memory
from PyGPU._random import curand
from PyGPU._random import text as _random_text
from PyGPU._random.generators import Generator, count_of, vector
from PyGPU._runtime import context_dependent_memoize, core, errors
from PyGPU._runtime import state as _driver_state

if TYPE_CHECKING:
    from PyGPU._types import Int, SeedGetter, StreamLike

_VENDORS = {
    "curand": """
#include <curand_kernel.h>
typedef curandState{name}_t P_state;
__device__ inline void P_init(unsigned long long seed, int i, unsigned long long offset,
                              P_state *state) {{ curand_init(seed, i, offset, state); }}
__device__ inline unsigned P_bits(P_state *state) {{ return curand(state); }}
__device__ inline float P_uniform(P_state *state, float) {{ return curand_uniform(state); }}
__device__ inline double P_uniform(P_state *state, double) {{
  return curand_uniform_double(state);
}}
__device__ inline float2 P_normals(P_state *state, float) {{ return curand_normal2(state); }}
__device__ inline double2 P_normals(P_state *state, double) {{
  return curand_normal2_double(state);
}}
""",
    # Only the engine: the headers of its distributions include what HIPRTC has built in.
    "rocrand": """
#include <rocrand/rocrand_{name}.h>
typedef rocrand_state_{name} P_state;
__device__ inline void P_init(unsigned long long seed, int i, unsigned long long offset,
                              P_state *state) {{ rocrand_init(seed, i, offset, state); }}
__device__ inline unsigned P_bits(P_state *state) {{ return rocrand(state); }}
""",
}
# Each state has 2^64 words for each of 2^32 subsequences of each of 2^32 sequences. It starts at
# the subsequence of its own number.
_OURS = """
struct P_state {
  unsigned long long word;
  unsigned key, subsequence, sequence, cached;
  uint4 words;
};
__device__ inline void P_init(unsigned long long seed, int i, unsigned long long offset,
                              P_state *state) {
  state->word = offset;
  state->key = unsigned(seed);
  state->subsequence = unsigned(i);
  state->sequence = state->cached = 0;
}
__device__ inline unsigned P_bits(P_state *state) {
  const unsigned long long block = state->word >> 2;
  const unsigned place = unsigned(state->word++) & 3u;
  if (place == 0 || !state->cached) {
    state->words = P_philox(make_uint4(unsigned(block), unsigned(block >> 32), state->subsequence,
                                       state->sequence), make_uint2(state->key, 0));
    state->cached = 1;
  }
  const uint4 w = state->words;
  return place == 0 ? w.x : place == 1 ? w.y : place == 2 ? w.z : w.w;
}
__device__ inline void skipahead(unsigned long long n, P_state *state) {
  state->word += n;
  state->cached = 0;
}
__device__ inline void skipahead_subsequence(unsigned long long n, P_state *state) {
  state->subsequence += unsigned(n);
  state->cached = 0;
}
__device__ inline void skipahead_sequence(unsigned long long n, P_state *state) {
  state->sequence += unsigned(n);
  state->cached = 0;
}
"""

_CONVERSIONS = """
__device__ inline unsigned long long P_wide(P_state *state) {
  const unsigned low = P_bits(state);
  return P_join(low, P_bits(state));
}
__device__ inline float P_uniform(P_state *state, float) { return P_float(P_bits(state), 1); }
__device__ inline double P_uniform(P_state *state, double) { return P_double(P_wide(state), 1); }
__device__ inline float2 P_normals(P_state *state, float) {
  const unsigned first = P_bits(state);
  return P_normal_pair(first, P_bits(state));
}
__device__ inline double2 P_normals(P_state *state, double) {
  const unsigned long long first = P_wide(state);
  return P_normal_pair(first, P_wide(state));
}
"""

_STATES = """
struct P_draws {
  P_state *state;
  __device__ double2 next() {
    const double first = P_uniform(state, 0.0);
    return make_double2(first, P_uniform(state, 0.0));
  }
};
extern "C" __global__ void measure(int *bytes) { *bytes = sizeof(P_state); }
extern "C" __global__ void initialize(P_state *states, int count, const int *seeds,
                                      unsigned long long offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) P_init(seeds[i], i, offset, states + i);
}
"""


def _skip_text(name: str) -> str:
    return f"""
extern "C" __global__ void {name}(P_state *states, int count, const unsigned long long *each,
                                  unsigned long long all) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {name.replace("skip_ahead", "skipahead")}(each ? each[i] : all, states + i);
}}
"""


def _fill_text(
    name: str, c_type: str, statements: str, parameters: str = "", at_once: int = 1
) -> str:
    """State i fills the elements, or pairs of them, i, i + count, i + 2 count ..."""
    return f"""
extern "C" __global__ void {name}(P_state *states, int count, {c_type} *out,
                                  long long n{parameters}) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  P_state state = states[i];
  for (long long k = {at_once}LL * i; k < n; k += {at_once}LL * count) {{ {statements} }}
  states[i] = state;
}}
"""


def _pair(c_type: str, value: str) -> str:
    first, second = value.replace("Z", "z.x"), value.replace("Z", "z.y")
    return (
        f"const {c_type}2 z = P_normals(&state, {c_type}()); out[k] = {first}; "
        f"if (k + 1 < n) out[k + 1] = {second};"
    )


def _poisson(mean: str) -> str:
    return f"P_draws draws = {{&state}}; P_store(out + k, P_poisson(draws, {mean}));"


#: The kinds of skipping; not every vendor's generator has all.
SKIPS = ("skip_ahead", "skip_ahead_sequence", "skip_ahead_subsequence")
_LOG_F4, _LOG_F8 = "expf(mean + stddev * Z)", "exp(mean + stddev * Z)"
# name: type in memory, statements, parameters and their types for prepare(), elements at once
_KERNELS: dict[str, tuple[Any, ...]] = {
    "bits_u4": ("unsigned", "out[k] = P_bits(&state);"),
    "uniform_f4": ("float", "out[k] = P_uniform(&state, 0.0f);"),
    "uniform_f8": ("double", "out[k] = P_uniform(&state, 0.0);"),
    "normal_f4": ("float", _pair("float", "Z"), "", 2),
    "normal_f8": ("double", _pair("double", "Z"), "", 2),
    "log_normal_f4": ("float", _pair("float", _LOG_F4), ", float mean, float stddev", 2),
    "log_normal_f8": ("double", _pair("double", _LOG_F8), ", double mean, double stddev", 2),
    "poisson_u4": ("unsigned", _poisson("mean"), ", double mean"),
    "poisson_of_f4": ("float", _poisson("out[k]")),
    "poisson_of_f8": ("double", _poisson("out[k]")),
    "poisson_of_u4": ("unsigned", _poisson("out[k]")),
}
_PARAMETERS = {"log_normal_f4": "ff", "log_normal_f8": "dd", "poisson_u4": "d"}


def text(vendor: str, name: str | None, skips: Sequence[str]) -> str:
    """All kernels of a generator.

    Parameters
    ----------
    vendor : {"curand", "rocrand", "philox"}
    name : str
        Of the vendor's state.
    skips : tuple of str
        Its kinds of skipping.
    """
    state = _OURS if vendor == "philox" else _VENDORS[vendor].format(name=name)
    if vendor != "curand":
        state = _random_text.PHILOX + _random_text.UNIFORM + _random_text.NORMAL + state
        state += _CONVERSIONS
    return "".join(
        [state, _random_text.POISSON, _STATES]
        + [_skip_text(skip) for skip in skips]
        + [_fill_text(kernel, *kind) for kernel, kind in _KERNELS.items()]
    )


def _compile(
    vendor: str, names: dict[str, str], skips: Sequence[str], include_dirs: Sequence[str]
) -> compiler.SourceModule:
    source = text(vendor, names.get(vendor), skips)
    options = [] if vendor == "philox" else ["-w"]  # the vendor's headers are not ours to mend
    return compiler.SourceModule(
        source, options=options, no_extern_c=True, include_dirs=include_dirs
    )


@context_dependent_memoize
def _compiled(
    names: tuple[tuple[str, str], ...], skips: tuple[str, ...]
) -> tuple[str, compiler.SourceModule, dict[str, Function]]:
    """(vendor, module, kernels by name) of the device's library, or else of our own."""
    vendor = {"cuda": "curand", "hip": "rocrand"}.get(core.target, "")
    folders, module = curand.include_dirs(), None
    if folders is not None:
        try:
            module = _compile(vendor, dict(names), skips, folders)
        except errors.CompileError as error:
            reason = (error.stderr or error.msg).splitlines()[0]
            warnings.warn(
                f"the headers of {vendor} do not compile ({reason}); Philox takes its place",
                RuntimeWarning,
                stacklevel=5,
            )
    if module is None:
        vendor, module = "philox", _compile("philox", {}, SKIPS, ())
    formats = {name: "PiPq" + _PARAMETERS.get(name, "") for name in _KERNELS}
    formats.update(dict.fromkeys(skips, "PiPQ"), measure="P", initialize="PiPQ")
    functions = {name: module.get_function(name).prepare(one) for name, one in formats.items()}
    if vendor == "philox" and SKIPS[2] not in skips:  # states are numbered by sequences
        functions[SKIPS[1]] = module.get_function(SKIPS[2]).prepare("PiPQ")
    return vendor, module, functions


class States(Generator):
    """Generators side by side, each with its state in device memory.

    Attributes
    ----------
    backend : {"curand", "rocrand", "philox"}
        Whose functions make the numbers.
    """

    _names: tuple[tuple[str, str], ...] = ()  # pairs of a vendor and what it calls the state
    _skips: tuple[str, ...] = SKIPS[:2]

    def __init__(self, seed_getter: SeedGetter, offset: int) -> None:
        offset = count_of("offset", offset)
        self.backend, self.module, self.generators = _compiled(self._names, self._skips)
        device = Device(_driver_state.current_device())
        self.block_count = device.get_attribute(enums.device_attribute.MULTIPROCESSOR_COUNT)
        self.generators_per_block = min(
            function.max_threads_per_block for function in self.generators.values()
        )
        count = self.block_count * self.generators_per_block
        seeds = vector("seed_getter(n)", seed_getter(count), np.int32, (count,))
        self._state: memory.DeviceAllocation | None = None
        self._call("initialize", None, seeds, offset)
        # Streams apart from the null stream may use the states.
        errors.check(core.cudaStreamSynchronize(None), "cudaStreamSynchronize")

    @property
    def state(self) -> memory.DeviceAllocation:
        """The device memory that holds the states."""
        if self._state is None:
            size = core.zeros((1,), np.int32)
            self.generators["measure"].prepared_call((1, 1), (1, 1, 1), size)
            count = self.block_count * self.generators_per_block
            self._state = memory.mem_alloc(count * int(size.get()[0]))
        return self._state

    def _call(self, name: str, stream: StreamLike, *arguments: Any) -> None:
        count = self.block_count * self.generators_per_block
        self.generators[name].prepared_async_call(
            (self.block_count, 1),
            (self.generators_per_block, 1, 1),
            stream,
            *(self.state, count),
            *arguments,
        )

    def _launch(
        self,
        distribution: str,
        code: str,
        data: core.GPUArray,
        parameters: tuple[float, ...],
        stream: StreamLike,
    ) -> None:
        self._call(f"{distribution}_{code}", stream, data, data.size, *parameters)

    def _skip(self, name: str, i: Int, stream: StreamLike) -> None:
        self._call(name, stream, 0, count_of("i", i))

    def _skip_array(self, name: str, i: core.GPUArray, stream: StreamLike) -> None:
        count = self.block_count * self.generators_per_block
        self._call(name, stream, vector("i", i, np.uint64, (count,)), 0)

    def call_skip_ahead(self, i: Int, stream: StreamLike = None) -> None:
        """Skip `i` numbers in each of the generators."""
        self._skip("skip_ahead", i, stream)

    def call_skip_ahead_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip i[s] numbers in generator s.

        Parameters
        ----------
        i : GPUArray
            Of uint64, one element for each of the generators; else TypeError.
        """
        self._skip_array("skip_ahead", i, stream)

    def call_skip_ahead_sequence(self, i: Int, stream: StreamLike = None) -> None:
        """Skip `i` sequences in each of the generators."""
        self._skip("skip_ahead_sequence", i, stream)

    def call_skip_ahead_sequence_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip i[s] sequences in generator s. See :meth:`call_skip_ahead_array`."""
        self._skip_array("skip_ahead_sequence", i, stream)
