"""References and launches: when what is bound counts, how long it lives, and what is refused."""

import gc

import numpy as np
import pytest
import slow_work
from array_tools import make, need_arrays  # noqa: F401

import PyGPU as gpuarray
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel

LINE = """
texture<int> line;
__global__ void fetch(int *out, long long cycles)
{
  long long begin = clock64();
  while (clock64() - begin < cycles) { }
  out[threadIdx.x] = tex1Dfetch(line, threadIdx.x);
}
"""
FILTERS, FORMATS = drv.filter_mode, drv.array_format


class Line:
    """A module with one reference, which is bound to one number after another."""

    def __init__(self):
        module = SourceModule(LINE)
        self.line, self.fetch = module.get_texref("line"), module.get_function("fetch")
        self.results = []

    def bind(self, number):
        gpuarray.to_gpu(np.full(32, number, np.int32)).bind_to_texref(self.line)

    def launch(self, stream=None, cycles=0):
        out = gpuarray.zeros(32, np.int32)
        drv.Context.synchronize()  # the zeros are there
        self.results.append(out)
        self.fetch(out, np.int64(cycles), block=(32, 1, 1), stream=stream)

    def expect(self, *numbers):
        drv.Context.synchronize()
        assert [one.get().tolist() for one in self.results] == [[n] * 32 for n in numbers]


@pytest.mark.parametrize("indices", [None, slice(0, 8)])
def test_an_elementwise_kernel_reads_what_is_bound(indices):
    kernel = ElementwiseKernel("int *x", "x[i] = tex1Dfetch(t, i)", preamble="texture<int> t;")
    line, x = kernel.get_texref("t", indices is not None), gpuarray.zeros(8, np.int32)
    for first in (5, 50):
        numbers = np.arange(first, first + 8, dtype=np.int32)
        gpuarray.to_gpu(numbers).bind_to_texref(line)
        kernel(x, slice=indices)
        assert np.array_equal(x.get(), numbers)


@pytest.mark.parametrize("how", ["null", "one", "two", "non-blocking", "null last", "several"])
def test_each_launch_reads_what_was_bound_before_it(how):
    """The kernels wait before they read, so that what is bound too early is seen."""
    streams = {
        "null": [None] * 4,
        "one": [drv.Stream()] * 4,
        "two": [drv.Stream(), drv.Stream()] * 2,
        "non-blocking": [drv.Stream(1), drv.Stream(1)] * 2,
        "null last": [drv.Stream(1), None, drv.Stream(), None],
        "several": [drv.Stream(1), drv.Stream(1), None, drv.Stream(1)],
    }[how]
    line = Line()
    line.bind(-1)
    line.launch()
    outs = [gpuarray.zeros(32, np.int32) for _ in range(8)]
    drv.Context.synchronize()
    for turn, stream in enumerate(streams):
        line.bind(turn)
        for again in (False, True):
            other = streams[turn - 1] if how == "several" and again else stream
            out = outs[2 * turn + again]
            line.fetch(out, np.int64(slow_work.CYCLES // 4), block=(32, 1, 1), stream=other)
            line.results.append(out)
    line.expect(-1, *(turn for turn in range(4) for _ in range(2)))


def test_what_is_set_between_launches_counts_from_the_next_on():
    module = SourceModule("""
    texture<float, 2> image;
    __global__ void fetch(float *out, float x) { *out = tex2D(image, x, 0.5f); }
    """)
    image, fetch = module.get_texref("image"), module.get_function("fetch")
    drv.matrix_to_texref(np.array([[0, 8, 4, 2]], np.float32), image, "C")
    out, found = gpuarray.zeros(1, np.float32), []

    def look(x):
        fetch(out, np.float32(x), block=(1, 1, 1), texrefs=[image])
        found.append(float(out.get()[0]))

    look(1)
    image.set_filter_mode(FILTERS.LINEAR)
    look(1)
    image.set_address_mode(0, drv.address_mode.BORDER)
    look(4)
    image.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    look(0.5)
    assert found == [8, 4, 1, 6]


def test_a_signal_handler_launches_while_a_launch_is_prepared(python):
    done = python(f"""
import faulthandler, signal
import numpy as np
from PyGPU import gpuarray
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

faulthandler.dump_traceback_later(60, exit=True)  # a deadlock
module = SourceModule({LINE!r})
line, fetch = module.get_texref("line"), module.get_function("fetch")
gpuarray.to_gpu(np.full(32, 5, np.int32)).bind_to_texref(line)
outs = [gpuarray.zeros(32, np.int32) for _ in range(2)]
make = line._make_object

def interrupted():
    line._make_object = make
    signal.raise_signal(signal.SIGUSR1)
    return make()

def handler(*_):
    module.get_texref("line")
    fetch(outs[0], np.int64(0), block=(32, 1, 1))

line._make_object = interrupted
signal.signal(signal.SIGUSR1, handler)
fetch(outs[1], np.int64(0), block=(32, 1, 1))
drv.Context.synchronize()
assert [out.get().tolist() for out in outs] == [[5] * 32] * 2
""")
    assert done.stdout == done.stderr == ""


def test_prepared_calls():
    line = Line()
    fetch = line.fetch
    with pytest.raises(drv.LogicError, match="'line' is not bound"):
        fetch.prepare("Pq", texrefs=[line.line]).prepared_call(
            (1, 1), (32, 1, 1), gpuarray.zeros(32, np.int32).gpudata, 0
        )
    stream, out = drv.Stream(), gpuarray.zeros(32, np.int32)
    for number, call in enumerate(
        [
            lambda: fetch.prepared_call((1, 1), (32, 1, 1), out.gpudata, 0),
            lambda: fetch.prepared_async_call((1, 1), (32, 1, 1), stream, out.gpudata, 0),
            lambda: fetch.prepared_timed_call((1, 1), (32, 1, 1), out.gpudata, 0)(),
        ]
    ):
        line.bind(number)
        call()
        drv.Context.synchronize()
        assert out.get().tolist() == [number] * 32
    assert fetch.prepare("Pq") is fetch  # no longer by this reference
    fetch.param_set_texref(line.line)
    assert fetch(out, np.int64(0), block=(32, 1, 1), time_kernel=True) >= 0


def test_what_is_bound_lives_on():
    line = Line()
    line.bind(7)
    line.line = None  # a program may drop the reference,
    gc.collect()
    line.launch()
    line.expect(7)
    module = SourceModule(LINE)
    fetch, reference = module.get_function("fetch"), module.get_texref("line")
    del module  # or the module,
    gc.collect()
    out = gpuarray.zeros(32, np.int32)
    gpuarray.arange(32, dtype=np.int32).bind_to_texref(reference)
    fetch(out, np.int64(0), block=(32, 1, 1))
    assert out.get().tolist() == list(range(32))
    del fetch  # or all of it, with kernels on their way
    gc.collect()
    assert reference.get_format() == (FORMATS.SIGNED_INT32, 1)


def test_what_was_bound_is_let_go():
    line = Line()
    first = gpuarray.zeros(32, np.int32)
    gone = []

    class Watched(drv.PointerHolderBase):
        def get_pointer(self):
            return int(first.gpudata)

        def __del__(self):
            gone.append(True)

    line.line.set_address(Watched(), first.nbytes)
    line.launch()
    line.bind(3)
    gc.collect()
    assert not gone  # the kernel may still read it
    line.launch()
    drv.Context.synchronize()
    line.launch()
    gc.collect()
    assert gone
    line.expect(0, 3, 3)


HELPED = """
#include <pycuda-helpers.hpp>
texture<fp_tex_TYPE> line;
__global__ void fetch(NUMBER *out) { out[threadIdx.x] = fp_tex1Dfetch(line, threadIdx.x); }
"""


@pytest.mark.parametrize(
    ("dtype", "type_", "number"),
    [
        ("f4", "float", "float"),
        ("f8", "double", "double"),
        ("c8", "cfloat", "pycuda::complex<float>"),
        ("c16", "cdouble", "pycuda::complex<double>"),
    ],
)
def test_numbers_in_parts(dtype, type_, number):
    module = SourceModule(HELPED.replace("TYPE", type_).replace("NUMBER", number))
    data = np.random.default_rng(1).random(2 * 64).view(np.complex128)
    data = (data if dtype.startswith("c") else data.real).astype(dtype)
    line = module.get_texref("line")
    given = gpuarray.to_gpu(data)
    assert given.bind_to_texref_ext(line, allow_double_hack=True, allow_complex_hack=True) == 0
    out = gpuarray.zeros_like(given)
    module.get_function("fetch")(out, block=(64, 1, 1), texrefs=[line])
    np.testing.assert_array_equal(out.get(), data)
    if dtype != "f4":
        with pytest.raises(ValueError, match="channels=2"):
            given.bind_to_texref_ext(line, 2, True, True)
        with pytest.raises(TypeError, match="expected an integer of 8, 16 or 32 bits, float16"):
            given.bind_to_texref_ext(line)


@pytest.mark.parametrize(
    ("declared", "call", "lengths"),
    [
        ("2", "fp_tex2D(image, x, y)", (4, 8)),
        ("3", "fp_tex3D(image, x, y, z)", (2, 4, 8)),
        ("cudaTextureType2DLayered", "fp_tex2DLayered(image, x, y, 0)", (4, 8)),
    ],
)
def test_doubles_of_several_dimensions(declared, call, lengths):
    module = SourceModule(f"""
    #include <pycuda-helpers.hpp>
    texture<fp_tex_double, {declared}> image;
    __global__ void fetch(double *out)
    {{
      int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
      out[(z * blockDim.y + y) * blockDim.x + x] = {call};
    }}
    """)
    data = np.random.default_rng(6).random(lengths)
    array = drv.np_to_array(data, "C", allowSurfaceBind="Layered" in call)
    module.get_texref("image").set_array(array)
    out = gpuarray.zeros(lengths, np.float64)
    module.get_function("fetch")(out, block=(*lengths[::-1], 1)[:3])
    np.testing.assert_array_equal(out.get(), data)


def test_arrays_that_no_reference_reads():
    line = Line().line
    with pytest.raises(RuntimeError, match="contiguous"):
        gpuarray.zeros((8, 8), np.int32)[:, ::2].bind_to_texref_ext(line)


@pytest.mark.parametrize("use_range", [False, True])
def test_in_an_elementwise_kernel(use_range):
    kernel = ElementwiseKernel(
        "float *z", "z[i] = 2 * tex1Dfetch(table, i)", preamble="texture<float> table;"
    )
    z, data = gpuarray.zeros(1 << 20, np.float32), gpuarray.arange(1 << 20, dtype=np.float32)
    table = kernel.get_texref("table", use_range=use_range)
    data.bind_to_texref_ext(table)
    kernel(z, **({"slice": slice(None)} if use_range else {}))
    np.testing.assert_array_equal(z.get(), 2 * data.get())


MANY = """
texture<float, 2> image; texture<uchar4> colours; texture<int, 2> numbers; texture<float> line;
texture<char, 2, cudaReadModeNormalizedFloat> fractions; surface<void, 2> plane;
__device__ int variable[4];
__global__ void f() {}
"""


def matrix(dtype):
    return drv.matrix_to_array(np.zeros((4, 8), dtype), "C")


@pytest.mark.parametrize(
    ("name", "bind", "why"),
    [
        ("image", lambda r: r.set_array(matrix("i4")), "1 x float32, but bound to 1 x int32"),
        ("numbers", lambda r: r.set_array(matrix("f4")), "1 x int32, but bound to 1 x float32"),
        ("numbers", lambda r: r.set_array(matrix("i2")), "1 x int32, but bound to 1 x int16"),
        ("fractions", lambda r: r.set_array(matrix("i2")), "1 x int8, but bound to 1 x int16"),
        ("colours", lambda r: r.set_array(matrix("u1")), "4 x uint8, but bound to 1 x uint8"),
        ("line", lambda r: r.set_array(matrix("f4")), "1D, but bound to an array of 2D"),
        ("image", lambda r: r.set_array(make(4, 4, 4)), "2D, but bound to an array of 3D"),
        ("image", lambda r: r.set_array(make(4, 4, 2, flags=1)), "array of 2DLayered"),
        ("image", lambda r: gpuarray.zeros(8, "f4").bind_to_texref(r), "bound to memory"),
        (
            "numbers",
            lambda r: (r.set_array(matrix("i4")), r.set_filter_mode(FILTERS.LINEAR)),
            "LINEAR",
        ),
    ],
)
def test_what_does_not_fit_is_said_at_the_launch(name, bind, why):
    module = SourceModule(MANY)
    reference = module.get_texref(name)
    bind(reference)
    for _ in range(2):
        with pytest.raises(drv.LogicError, match=f"{name}.*{why}"):
            module.get_function("f")(block=(1, 1, 1))


def test_names_that_are_no_references():
    module, without = SourceModule(MANY), SourceModule("__global__ void f() {}")
    assert module.get_surfref("plane") is module.get_surfref("plane")
    for get, wrong, why in [
        (module.get_texref, "nothing", "nothing.*; the source has image, .*, fractions, plane$"),
        (module.get_surfref, "nothing", "nothing.*; the source has image, .*, fractions, plane$"),
        (module.get_global, "nothing", "nothing.*; the source has variable$"),
        (module.get_texref, "variable", "not a texture or surface reference"),
        (module.get_texref, "plane", "'plane': a SurfaceReference"),
        (module.get_surfref, "image", "'image': a TextureReference"),
        (without.get_texref, "image", "declares no texture"),
        (without.get_surfref, "image", "declares no texture"),
    ]:
        with pytest.raises(drv.LogicError, match=why):
            get(wrong)
    with pytest.raises(TypeError, match="name"):
        module.get_texref(None)


def test_bad_arguments_of_launches():
    module, without = SourceModule(MANY), SourceModule("__global__ void f() {}")
    f, plain, image = (
        module.get_function("f"),
        without.get_function("f"),
        module.get_texref("image"),
    )
    for use, error, why in [
        (
            lambda: f(block=(1, 1, 1), texrefs=[image]),
            drv.LogicError,
            "'image' is not bound",
        ),
        (lambda: f(block=(1, 1, 1), texrefs=[1]), TypeError, "texrefs"),
        (lambda: f.prepare("", texrefs=[1]), TypeError, "texref"),
        (lambda: plain(block=(1, 1, 1), texrefs=[image]), drv.ArgumentError, "texrefs"),
        (lambda: plain.prepare("", texrefs=[image]), drv.ArgumentError, "no texture"),
        (lambda: plain.param_set_texref(image), drv.ArgumentError, "no texture"),
    ]:
        with pytest.raises(error, match=why):
            use()


def test_bad_arguments_of_references():
    image = SourceModule(MANY).get_texref("image")
    memory, shape = drv.mem_alloc(1024), drv.ArrayDescriptor()
    for use, error, why in [
        (lambda: image.set_array(memory), TypeError, "array: expected an Array"),
        (lambda: image.set_address("text", 4), TypeError, "devptr"),
        (lambda: image.set_address(memory, "4"), TypeError, "bytes"),
        (lambda: image.set_address(memory, -4), OverflowError, "bytes=-4"),
        (lambda: image.set_address_2d(memory, None, 512), TypeError, "descr"),
        (lambda: image.set_address_2d(memory, shape, 512), drv.LogicError, "num_channels=0"),
        (lambda: image.set_format(99, 1), drv.LogicError, "format=99"),
        (lambda: image.set_format(FORMATS.FLOAT, 3), drv.LogicError, "num_channels=3"),
        (lambda: image.set_address_mode(3, 0), drv.LogicError, "dim=3"),
        (lambda: image.set_address_mode(0, 9), drv.LogicError, "am=9"),
        (lambda: image.get_address_mode(-1), drv.LogicError, "dim=-1"),
        (lambda: image.set_filter_mode(2), drv.LogicError, "fm=2"),
        (lambda: image.set_flags(64), drv.LogicError, "flags=64"),
        (lambda: drv.matrix_to_texref(np.zeros(3, "f4"), image, "C"), drv.LogicError, "matrix"),
        (lambda: drv.matrix_to_texref(np.zeros((2, 2)), image, "C"), TypeError, "float64"),
        (lambda: drv.bind_array_to_texref(None, image), TypeError, "array"),
    ]:
        with pytest.raises(error, match=why):
            use()
