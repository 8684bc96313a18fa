"""Launches of PyCUDA's first years: the function remembers its block and its arguments."""

import numpy as np
import pytest

import PyGPU.driver as drv
from PyGPU import errors, gpuarray
from PyGPU.compiler import SourceModule

pytestmark = pytest.mark.filterwarnings("ignore:Function.*is deprecated:DeprecationWarning")

SOURCE = """
struct Pair { float x; double y; };
__global__ void scale(float *a, int n, double factor, unsigned char shift)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x + gridDim.x * blockDim.x * blockIdx.y;
  if (i < n) a[i] = factor * a[i] + shift;
}
__global__ void of_pair(double *out, char c, Pair pair) { *out = c + pair.x * pair.y; }
__global__ void through_shared(int *out, int x, float y)
{
  extern __shared__ int memory[];
  memory[threadIdx.x] = x + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x] + int(y);
}
__global__ void nothing() {}
"""
HOST = np.arange(100, dtype=np.float32)


@pytest.fixture(scope="module")
def module():
    return SourceModule(SOURCE)


def address_in(array):
    return np.array([array.ptr], np.uintp)


def set_by_bytes(function, array):
    function.param_setv(0, address_in(array))
    function.param_seti(8, array.size)
    function.param_setv(16, np.float64(2.5))
    function.param_setv(24, np.uint8(3))
    function.param_set_size(25)


def set_at_once(function, array):
    function.param_set(array, np.int32(array.size), np.float64(2.5), np.uint8(3))


@pytest.mark.parametrize("set_parameters", [set_by_bytes, set_at_once])
def test_the_three_launches(module, set_parameters):
    expected = HOST * 2.5 + 3
    function = module.get_function("scale")
    array = gpuarray.to_gpu(HOST)
    set_parameters(function, array)
    function.set_block_shape(100, 1, 1)
    function.launch()
    assert (array.get() == expected).all()
    array.set(HOST)
    function.set_block_shape(32, 1, 1)
    function.launch_grid(2, 2)  # the arguments are still there
    assert (array.get() == expected).all()
    array.set(HOST)
    stream = drv.Stream()
    function.launch_grid_async(4, 1, stream)
    stream.synchronize()
    assert (array.get() == expected).all()


def test_arrays_of_the_host(module):
    function, host = module.get_function("scale"), HOST.copy()
    function.set_block_shape(128, 1, 1)
    function.param_set(drv.InOut(host), 100, 2.0, 0)
    function.launch_grid(1, 1)
    assert (host == HOST * 2).all()


def test_integers_floats_and_shared_memory(module):
    function = module.get_function("through_shared")
    out = gpuarray.zeros(8, np.int32)
    function.set_block_shape(8, 1, 1)
    function.set_shared_size(8 * 4)
    function.param_setv(0, address_in(out).tobytes())
    for value in (-5, 2**31 - 1, 7):
        function.param_seti(8, value)
    function.param_setf(12, 100.25)
    function.launch()
    assert out.get().tolist() == [114 - k for k in range(8)]
    function.param_seti(8, 0xFFFFFFFF)  # as C converts it
    function.launch()
    assert out.get().tolist() == [106 - k for k in range(8)]


def test_a_structure_by_its_bytes(module):
    function, out = module.get_function("of_pair"), gpuarray.zeros(1, np.float64)
    if function._parameter_offsets is None:
        pytest.skip("the runtime does not tell where a structure lies among the parameters")
    pair = np.zeros((), np.dtype([("x", "f4"), ("y", "f8")], align=True))
    pair["x"], pair["y"] = 1.5, 4.0
    function.set_block_shape(1, 1, 1)
    function.param_setv(0, address_in(out))
    function.param_setv(8, b"\x02")
    function.param_setv(16, pair)
    function.launch()
    assert out.get()[0] == 8.0


def test_without_parameters(module):
    function = module.get_function("nothing")
    function.set_block_shape(1, 1, 1)
    function.launch()
    drv.Context.synchronize()


def test_two_functions_have_two_states(module):
    first, second = module.get_function("nothing"), module.get_function("nothing")
    first.set_block_shape(1, 1, 1)
    with pytest.raises(errors.LogicError, match="set_block_shape"):
        second.launch()
    first.launch()


def test_what_is_missing_or_too_much(module):
    function, array = module.get_function("scale"), gpuarray.to_gpu(HOST)
    function.set_block_shape(1, 1, 1)
    with pytest.raises(TypeError, match=r"parameter #0.*bytes 0 to 7, which were not all set"):
        function.launch()
    set_by_bytes(function, array)
    function.param_setv(28, b"1234")
    with pytest.raises(TypeError, match="32 bytes of arguments were set, its parameters have 25"):
        function.launch()
    again = module.get_function("scale")
    again.set_block_shape(1, 1, 1)
    again.param_setv(0, address_in(array))
    again.param_setf(8, 1.0)
    again.param_setv(12, np.float64(2.5))  # without a thought of its alignment
    with pytest.raises(TypeError, match=r"parameter #2.*bytes 16 to 23"):
        again.launch()
    again.param_set_size(20)
    with pytest.raises(TypeError, match="20 bytes of arguments were set, its parameters have 25"):
        again.launch()
    assert (array.get() == HOST).all()


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda f: f.param_seti(0, 2**32), "param_seti: value=4294967296: expected 32 bits"),
        (lambda f: f.param_seti(0, 1.5), "value"),
        (lambda f: f.param_seti(-4, 1), "offset=-4"),
        (lambda f: f.param_setv(0, "text"), "bytes-like"),
        (lambda f: f.set_block_shape(1.5, 1, 1), "x"),
    ],
)
def test_values_that_do_not_fit(module, call, told):
    with pytest.raises(TypeError, match=told):
        call(module.get_function("scale"))


@pytest.mark.filterwarnings("default")
def test_they_are_deprecated(module):
    function = module.get_function("nothing")
    for name, arguments in [
        *[("set_block_shape", (1, 1, 1)), ("set_shared_size", (0,)), ("param_set", ())],
        *[("param_set_size", (0,)), ("launch", ()), ("launch_grid", (1, 1))],
        *[("launch_grid_async", (1, 1, None))],
    ]:
        with pytest.warns(DeprecationWarning, match=rf"Function\.{name} is deprecated") as caught:
            getattr(function, name)(*arguments)
        assert caught[0].filename == __file__
