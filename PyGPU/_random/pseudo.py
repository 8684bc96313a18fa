"""Pseudo-random generators with one state per thread, by the functions of curand_kernel.h.

The header is NVIDIA's if it is installed, otherwise PyGPU's, which makes the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import Device, Function, SourceModule, enums, memory
from PyGPU._random import curand
from PyGPU._random import text as _random_text
from PyGPU._random.generators import Fill, Generator, count_of, seed_getter_unique, seeds_of, vector
from PyGPU._runtime import context_dependent_memoize, core, docstrings, errors, warn
from PyGPU._runtime import state as _driver_state

if TYPE_CHECKING:
    from PyGPU._types import Int, SeedGetter, StreamLike

# {back end: its header}
_HEADERS = {"curand": "curand_kernel.h", "pygpu": "PyGPU/device/random/curand_kernel.h"}

_STATES = """
#include <{header}>
typedef curandState{name}_t P_state;

struct P_draws {{
  P_state *state;
  __device__ double2 next() {{
    const double first = curand_uniform_double(state);
    return make_double2(first, curand_uniform_double(state));
  }}
}};
extern "C" __global__ void measure(int *bytes) {{ *bytes = sizeof(P_state); }}
extern "C" __global__ void initialize(P_state *states, int count, const int *seeds,
                                      unsigned long long offset) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) curand_init(seeds[i], i, offset, states + i);
}}
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
    """Return a kernel whose state i fills elements (or pairs) i, i + count, i + 2 count ..."""
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
    function = {"float": "curand_normal2", "double": "curand_normal2_double"}[c_type]
    first, second = value.replace("Z", "z.x"), value.replace("Z", "z.y")
    return (
        f"const {c_type}2 z = {function}(&state); out[k] = {first}; "
        f"if (k + 1 < n) out[k + 1] = {second};"
    )


def _poisson(mean: str) -> str:
    return f"P_draws draws = {{&state}}; P_store(out + k, P_poisson(draws, {mean}));"


#: Skip functions; XORWOW has no subsequences.
SKIPS = ("skip_ahead", "skip_ahead_sequence", "skip_ahead_subsequence")
_LOG_F4, _LOG_F8 = "expf(mean + stddev * Z)", "exp(mean + stddev * Z)"
# {kernel: (type in memory, statements[, parameters[, elements per step]])}
_KERNELS: dict[str, tuple[Any, ...]] = {
    "bits_u4": ("unsigned", "out[k] = curand(&state);"),
    "uniform_f4": ("float", "out[k] = curand_uniform(&state);"),
    "uniform_f8": ("double", "out[k] = curand_uniform_double(&state);"),
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


def text(backend: str, name: str, skips: Sequence[str]) -> str:
    """Return the text of all kernels of a generator.

    :param {"curand", "pygpu"} backend: Origin of the header.
    :param name: Name of the state, such as "XORWOW".
    :param tuple of str skips: Skip functions of the state.
    """
    return "".join(
        [_STATES.format(header=_HEADERS[backend], name=name), _random_text.POISSON]
        + [_skip_text(skip) for skip in skips]
        + [_fill_text(kernel, *kind) for kernel, kind in _KERNELS.items()]
    )


def _compile(
    backend: str, name: str, skips: Sequence[str], include_dirs: Sequence[str]
) -> SourceModule:
    options = ["-w"] if backend == "curand" else []  # do not report warnings about NVIDIA's headers
    return SourceModule(
        text(backend, name, skips), options=options, no_extern_c=True, include_dirs=include_dirs
    )


@context_dependent_memoize
def _compiled(name: str, skips: tuple[str, ...]) -> tuple[str, SourceModule, dict[str, Function]]:
    """Return (back end, module, {name: kernel}), with NVIDIA's header if it compiles."""
    backend, module = "curand", None
    folders = curand.include_dirs()
    if folders is not None:
        try:
            module = _compile(backend, name, skips, folders)
        except errors.CompileError as error:
            reason = (error.stderr or error.msg).splitlines()[0]
            warn(
                f"the headers of cuRAND do not compile ({reason}); falling back to PyGPU's",
                RuntimeWarning,
            )
    if module is None:
        backend = "pygpu"
        module = _compile(backend, name, skips, ())
    formats = {kernel: "PiPq" + _PARAMETERS.get(kernel, "") for kernel in _KERNELS}
    formats.update(dict.fromkeys(skips, "PiPQ"), measure="P", initialize="PiPQ")
    functions = {one: module.get_function(one).prepare(types) for one, types in formats.items()}
    return backend, module, functions


class States(Generator):
    """Parallel generators, each with its state in device memory.

    Attributes
    ----------
    backend : {"curand", "pygpu"}
        Origin of the header, NVIDIA or PyGPU; the numbers are the same.
    """

    _name = ""  # name of the state
    _skips: tuple[str, ...] = SKIPS[:2]

    def __init__(self, seed_getter: SeedGetter, offset: int) -> None:
        super().__init__()
        offset = count_of("offset", offset)
        self.backend, self.module, self.generators = _compiled(self._name, self._skips)
        self._device = _driver_state.current_device()
        device = Device(self._device)
        self.block_count = device.get_attribute(enums.device_attribute.MULTIPROCESSOR_COUNT)
        self.generators_per_block = min(
            function.max_threads_per_block for function in self.generators.values()
        )
        count = self.block_count * self.generators_per_block
        advice = "for one seed: lambda n: gpuarray.to_gpu(numpy.full(n, seed, numpy.int32))"
        seeds = seeds_of(seed_getter, count, advice)
        self._state: memory.DeviceAllocation | None = None
        self._call("initialize", None, seeds, offset)
        # Non-blocking streams may use the states next.
        errors.check(core.cudaStreamSynchronize(None), "cudaStreamSynchronize")

    @property
    def state(self) -> memory.DeviceAllocation:
        """Device memory of the states."""
        if self._state is None:
            size = core.zeros((1,), np.int32)
            self.generators["measure"].prepared_call((1, 1), (1, 1, 1), size)
            count = self.block_count * self.generators_per_block
            self._state = memory.mem_alloc(count * int(size.get()[0]))
        return self._state

    def _call(self, name: str, stream: StreamLike, *arguments: Any) -> None:
        count = self.block_count * self.generators_per_block
        with self._order.turn(stream, self._device):
            self.generators[name].prepared_async_call(
                (self.block_count, 1),
                (self.generators_per_block, 1, 1),
                stream,
                *(self.state, count),
                *arguments,
            )

    def _launch(self, fill: Fill) -> None:
        self._call(fill.kernel, fill.stream, fill.data, fill.data.size, *fill.parameters)

    def _skip(self, name: str, i: Int, stream: StreamLike) -> None:
        self._call(name, stream, 0, count_of("i", i))

    def _skip_array(self, name: str, i: core.GPUArray, stream: StreamLike) -> None:
        count = self.block_count * self.generators_per_block
        self._call(name, stream, vector("i", i, np.uint64, (count,)), 0)

    def call_skip_ahead(self, i: Int, stream: StreamLike = None) -> None:
        """Skip numbers in each generator.

        :param i: Amount of numbers.
        :param stream:
        """
        self._skip("skip_ahead", i, stream)

    def call_skip_ahead_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip a different amount of numbers in each generator.

        :param i: uint64, one element per generator; element s is the amount for generator s.
        :param stream:
        :raises TypeError: If the array has another dtype or shape.
        """
        self._skip_array("skip_ahead", i, stream)

    def call_skip_ahead_sequence(self, i: Int, stream: StreamLike = None) -> None:
        """Skip sequences in each generator.

        :param i: Number of sequences.
        :param stream:
        """
        self._skip("skip_ahead_sequence", i, stream)

    def call_skip_ahead_sequence_array(self, i: core.GPUArray, stream: StreamLike = None) -> None:
        """Skip a different number of sequences in each generator.

        :param i: uint64, one element per generator; element s is the number for generator s.
        :param stream:
        """
        self._skip_array("skip_ahead_sequence", i, stream)


class XORWOWRandomNumberGenerator(States):
    """Marsaglia's generator XORWOW, by the device functions of curand_kernel.h.

    Many generators work in parallel; generator i has seed i and sequence i. Integers and uniform
    numbers equal cuRAND's to the last bit on every target. ``backend`` is the header in use:
    NVIDIA's ("curand") or PyGPU's ("pygpu").

    :param seed_getter: Returns that many seeds as an int32 GPUArray. :func:`seed_getter_unique` by
        default.
    :param offset: Numbers that each generator skips at the start.
    :raises TypeError: If the getter returns anything else.

    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.XORWOWRandomNumberGenerator()
    >>> generator.gen_uniform(4, "float32").shape
    (4,)
    """

    _name = "XORWOW"

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)


class MRG32k3aRandomNumberGenerator(States):
    """L'Ecuyer's generator MRG32k3a, by the device functions of curand_kernel.h.

    :param seed_getter: Returns that many seeds as an int32 GPUArray. :func:`seed_getter_unique` by
        default.
    :param offset: Numbers that each generator skips at the start.

    See Also
    --------
    XORWOWRandomNumberGenerator : The same interface and headers.

    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.MRG32k3aRandomNumberGenerator()
    >>> generator.gen_normal(4, "float32").shape
    (4,)
    """

    _name = "MRG32k3a"
    _skips = SKIPS

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)

    def call_skip_ahead_subsequence(self, i: Int, stream: StreamLike = None) -> None:
        """Skip subsequences in each generator.

        :param i: Number of subsequences.
        :param stream:
        """
        self._skip("skip_ahead_subsequence", i, stream)

    def call_skip_ahead_subsequence_array(
        self, i: core.GPUArray, stream: StreamLike = None
    ) -> None:
        """Skip a different number of subsequences in each generator.

        :param i: uint64; element s is the number of subsequences for generator s.
        :param stream:
        """
        self._skip_array("skip_ahead_subsequence", i, stream)


docstrings.complete(__name__)
