"""Arguments that a kernel would read as something else: a warning once, an error, or nothing."""

import warnings

import numpy as np
import pytest

from PyGPU import driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.errors import ArgumentWarning
from PyGPU.reduction import ReductionKernel

BLOCK = {"block": (1, 1, 1)}
TYPES = [
    "float",
    "double",
    "int",
    "unsigned long long",
    "bool",
    "char",
    "void",
    "float *",
]
TEXT = "\n".join(
    f"__global__ void kernel{number}({c_type} *x) {{}}" for number, c_type in enumerate(TYPES)
)
# The dtypes that go with each; of all others it is warned.
QUIET = {
    "float": "f4 i1 u1 c8 V4 S3",
    "double": "f8 i1 u1 c16 V4 S3",
    "int": "i4 u4 i1 u1 V4 S3",
    "unsigned long long": "i8 u8 i1 u1 V4 S3",
    "bool": "b1 i1 u1 V4 S3",
    "float *": "i8 u8 i1 u1 V4 S3",
}
DTYPES = ["f2", "f4", "f8", "i1", "u1", "i2", "i4", "u4", "i8", "u8", "b1", "c8", "c16", "V4", "S3"]


def heard(call, *arguments, **keywords):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*arguments, **keywords)
    return [str(one.message) for one in found if one.category is ArgumentWarning]


@pytest.mark.parametrize("c_type", TYPES)
def test_elements_and_pointers(c_type):
    for dtype in DTYPES:
        kernel = SourceModule(TEXT).get_function(f"kernel{TYPES.index(c_type)}")
        quiet = dtype in QUIET.get(c_type, " ".join(DTYPES)).split()
        array = gpuarray.zeros(4, dtype)
        kernel.prepare("P")
        found = heard(kernel, array, **BLOCK)
        assert len(found) == (not quiet), (dtype, found)
        assert heard(kernel, array, **BLOCK) == []
        assert heard(kernel.prepared_call, (1, 1), (1, 1, 1), array) == []
        assert heard(kernel, drv.In(np.zeros(4, dtype)), **BLOCK) == []


def launches(kernel, dtype):
    """The ways of an argument to a kernel."""
    kernel.prepare("P")
    array, host = gpuarray.zeros(4, dtype), np.zeros(4, dtype)
    return {
        "an array": lambda: kernel(array, **BLOCK),
        "prepared": lambda: kernel.prepared_call((1, 1), (1, 1, 1), array),
        "In": lambda: kernel(drv.In(host), **BLOCK),
        "InOut": lambda: kernel(drv.InOut(host), **BLOCK),
    }


@pytest.mark.parametrize("way", ["an array", "prepared", "In", "InOut"])
def test_every_way_of_an_argument(way):
    kernel = SourceModule("__global__ void f(float *x) {}").get_function("f")
    (text,) = heard(launches(kernel, np.float64)[way])
    assert "#0 (0-based) 'x' points to elements of 4 bytes, each a floating-point number" in text
    assert "got an array of dtype float64" in text and ".astype()" in text and "PYGPU_CHECK" in text
    assert heard(launches(kernel, np.float32)[way]) == []


def test_each_parameter_is_warned_of_once():
    kernel = SourceModule("__global__ void f(float *x, int *y) {}").get_function("f")
    wrong = gpuarray.zeros(4, np.float64)
    assert len(heard(kernel, wrong, wrong, **BLOCK)) == 2
    assert heard(kernel, wrong, wrong, **BLOCK) == []


def test_reductions():
    total = ReductionKernel(np.float32, "0", "a + b", arguments="float *in")
    assert len(heard(total, gpuarray.zeros(4, np.float64))) == 1


@pytest.mark.parametrize("scalar", [np.int32(-3), np.uint8(3), np.int64(1 << 40), np.bool_(True)])
@pytest.mark.parametrize(("c_type", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_integers_for_floating_point_numbers(scalar, c_type, dtype):
    text = f"__global__ void f({c_type} *x, {c_type} value) {{ *x = value; }}"
    kernel, x = SourceModule(text).get_function("f"), gpuarray.zeros(1, dtype)
    (said,) = heard(kernel, x, scalar, **BLOCK)
    assert "'value' is" in said and "its value is converted" in said
    assert x.get()[0] == dtype(scalar)
    assert heard(kernel, x, scalar, **BLOCK) == []
    assert heard(kernel, x, 3, **BLOCK) == []


PROGRAM = """
import warnings
import numpy as np
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.errors import ArgumentError

warnings.simplefilter("error")
kernel = SourceModule("__global__ void f(float *x, float n) {}").get_function("f")
right, wrong = gpuarray.zeros(4, np.float32), gpuarray.zeros(4, np.float64)
for arguments in [(wrong, 1.5), (wrong, 1.5), (right, np.int32(2))]:
    try:
        kernel(*arguments, block=(1, 1, 1))
        print("quiet")
    except ArgumentError as error:
        print("refused")
kernel(right, 1, block=(1, 1, 1))
"""


@pytest.mark.parametrize(("check", "outcome"), [("error", "refused"), ("off", "quiet")])
def test_the_variable(python, check, outcome):
    assert python(PROGRAM, PYGPU_CHECK=check).stdout.split() == [outcome] * 3


def test_bytes_in_another_order_are_other_numbers():
    swapped = np.dtype(np.float32).newbyteorder()
    array = gpuarray.to_gpu(np.arange(3, dtype=swapped))
    total = ReductionKernel(np.float32, "0", "a + b", arguments="float *in")
    with pytest.warns(ArgumentWarning, match="dtype"):
        total(array)
    copy = SourceModule("__global__ void copy(float *y, float x) { *y = x; }").get_function("copy")
    out = gpuarray.empty(1, np.float32)
    copy(out, np.array(1.5, swapped), block=(1, 1, 1))
    assert out.get() == 1.5


def test_the_warning_is_about_the_programs_line():
    array = gpuarray.zeros(4, np.float64)
    calls = [
        lambda: SourceModule(TEXT).get_function("kernel0")(array, **BLOCK),
        lambda: ElementwiseKernel("float *x", "x[i] = 1")(array),
        lambda: ReductionKernel(np.float32, "0", "a + b", arguments="float *in")(array),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        assert [one.filename for one in found if one.category is ArgumentWarning] == [__file__]


VECTORS = {  # the dtypes that go with a pointer; the others are reported
    "float2": "f4 c8 i1 u1 V8 V16 S3",
    "double2": "f8 c16 i1 u1 V16 S3",
    "int3": "i4 u4 i1 u1 V12 S3",
    "uchar4": "i1 u1 b1 i4 u4 V8 V12 V16 V4 S3",
    "dim3": "i4 u4 i1 u1 V12 S3",
    "Pair": "f4 f2 i1 u1 b1 i2 i4 u4 f8 i8 u8 c8 V8 V16 S3",
    "Three": "f4 f2 i1 u1 b1 i2 i4 u4 V12 S3",
}
STRUCTURES = "struct Pair { float x, y; }; struct Three { float x[3]; };\n"


@pytest.mark.parametrize("c_type", VECTORS)
def test_pointers_to_vectors_and_structures(c_type):
    text = f"{STRUCTURES}__global__ void f({c_type} *x) {{}}"
    for dtype in [*DTYPES, "V8", "V12", "V16"]:
        kernel = SourceModule(text).get_function("f")
        found = heard(kernel, gpuarray.zeros(4, dtype), **BLOCK)
        assert len(found) == (dtype not in VECTORS[c_type].split()), (dtype, found)


def test_the_message_names_the_vector():
    kernel = SourceModule("__global__ void f(float2 *x) {}").get_function("f")
    (said,) = heard(kernel, gpuarray.zeros(4, np.float64), **BLOCK)
    assert "elements of 8 bytes, each a vector of 2 elements, each a floating-point number" in said


def test_half_vectors():
    text = "#include <cuda_fp16.h>\n__global__ void f(__half2 *x) {}"
    for dtype, count in (("f2", 0), ("f4", 1), ("i4", 1)):
        kernel = SourceModule(text).get_function("f")
        assert len(heard(kernel, gpuarray.zeros(4, dtype), **BLOCK)) == count
