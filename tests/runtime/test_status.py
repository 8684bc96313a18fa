"""cudaError_t, the thread's last error, and the exceptions that stand for codes."""

import builtins
import ctypes
import operator
import pathlib
import pickle
import threading
from functools import cache

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import cudaError_t, errors
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel

NO_SUCH_DEVICE = 10**6
CODES = [0, 1, 2, 101, 700, 999, 12345, -3]


def failed_copy():
    """A copy that PyGPU refuses itself: the status has a detail and the runtime is not asked."""
    return PyGPU.cudaMemcpy(np.zeros(1), np.zeros(1), 100)


@pytest.mark.parametrize("code", CODES)
def test_a_status_prints_as_in_the_first_pygpu(code):
    assert repr(cudaError_t(code)) == str(cudaError_t(code)) == f"<cudaError: code={code}>"


@pytest.mark.parametrize("code", CODES)
def test_a_status_is_its_number(code):
    status = cudaError_t(code)
    assert int(status) == operator.index(status) == status.as_int() == status.code == code
    assert type(status.code) is int


def test_a_status_is_true_when_it_is_an_error():
    assert not cudaError_t()
    assert not cudaError_t(0)
    assert all(cudaError_t(code) for code in CODES[1:])


def test_equality_is_that_of_the_numbers():
    two = cudaError_t(2)
    assert two == cudaError_t(2) and two == 2 and 2 == two
    assert two == PyGPU.cudaErrorMemoryAllocation
    assert not two != cudaError_t(2) and not two != 2 and not 2 != two
    assert two != cudaError_t(3) and two != 3 and 3 != two
    assert not two == cudaError_t(3) and not two == 3
    for other in (None, "2", "<cudaError: code=2>", 2.5, [2], object()):
        assert two != other and not two == other
        assert other != two and not other == two


@pytest.mark.parametrize("code", CODES)
def test_a_status_hashes_like_its_number(code):
    assert hash(cudaError_t(code)) == hash(code)
    assert {code: "found"}[cudaError_t(code)] == "found"
    assert len({cudaError_t(code), cudaError_t(code), code}) == 1


def test_a_detail_does_not_take_part_in_equality():
    status = failed_copy()
    assert status.detail and status == cudaError_t(1) and hash(status) == hash(1)


# HIP has the same numbers, and some names of its own.
NAMES = {
    0: ("cudaSuccess", "hipSuccess"),
    1: ("cudaErrorInvalidValue", "hipErrorInvalidValue"),
    2: ("cudaErrorMemoryAllocation", "hipErrorOutOfMemory"),
    3: ("cudaErrorInitializationError", "hipErrorNotInitialized"),
    100: ("cudaErrorNoDevice", "hipErrorNoDevice"),
    101: ("cudaErrorInvalidDevice", "hipErrorInvalidDevice"),
    400: ("cudaErrorInvalidResourceHandle", "hipErrorInvalidHandle"),
    600: ("cudaErrorNotReady", "hipErrorNotReady"),
    700: ("cudaErrorIllegalAddress", "hipErrorIllegalAddress"),
    719: ("cudaErrorLaunchFailure", "hipErrorLaunchFailure"),
    801: ("cudaErrorNotSupported", "hipErrorNotSupported"),
    999: ("cudaErrorUnknown", "hipErrorUnknown"),
}


@pytest.mark.parametrize("code", NAMES)
def test_names_are_the_runtimes(code):
    name = NAMES[code][PyGPU.use_hip]
    assert cudaError_t(code).name == name
    assert PyGPU.cudaGetErrorName(code) == PyGPU.cudaGetErrorName(cudaError_t(code)) == name
    assert getattr(PyGPU, NAMES[code][0]) == code


@pytest.mark.skipif(PyGPU.use_hip, reason="HIP has its own texts for errors")
@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "no error"),
        (1, "invalid argument"),
        (2, "out of memory"),
        (101, "invalid device ordinal"),
    ],
)
def test_texts_are_the_runtimes(code, text):
    assert cudaError_t(code).string == PyGPU.cudaGetErrorString(code) == text


def test_every_error_constant_has_a_name_and_a_text():
    numbers = [v for k, v in vars(PyGPU).items() if k.startswith("cudaError") and type(v) is int]
    assert len(numbers) > 100
    for number in numbers:
        assert cudaError_t(number).name and cudaError_t(number).string


@pytest.mark.parametrize("code", [12345, -3])
def test_unknown_codes_have_a_sane_text(code):
    status = cudaError_t(code)
    for text in (status.name, status.string, PyGPU.cudaGetErrorName(status)):
        assert isinstance(text, str) and text


def test_a_status_is_read_only():
    with pytest.raises(AttributeError):
        cudaError_t(2).code = 0


@pytest.mark.parametrize("bad", ["2", 1.5, None, [2], 2**40])
def test_a_status_needs_a_number(bad):
    with pytest.raises(TypeError, match="code"):
        cudaError_t(bad)
    with pytest.raises(TypeError, match="error"):
        PyGPU.cudaGetErrorName(bad)
    with pytest.raises(TypeError, match="error"):
        PyGPU.cudaGetErrorString(bad)


def test_a_status_can_be_made_with_a_detail():
    status = cudaError_t(1, "what is known")
    assert status.detail == "what is known" and cudaError_t(code=1, detail="other") == status
    assert str(errors.exception_of("cudaFoo", status)).endswith(" - what is known")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_status_can_be_pickled(protocol):
    status = failed_copy()
    back = pickle.loads(pickle.dumps(status, protocol))
    assert type(back) is cudaError_t
    assert back == status == 1 and back.detail == status.detail


# The thread's last error.


@pytest.mark.skipif((0, 0) < needs.HIP < (7, 0), reason="before HIP 7 it is the last call's")
def test_the_last_error_stays_until_it_is_taken():
    PyGPU.cudaGetLastError()
    assert PyGPU.cudaPeekAtLastError() == 0
    assert PyGPU.cudaSetDevice(NO_SUCH_DEVICE) == 101
    assert PyGPU.cudaPeekAtLastError() == 101
    assert PyGPU.cudaGetDevice()[1] == 0  # a call that succeeds does not clear it
    assert PyGPU.cudaPeekAtLastError() == 101
    assert PyGPU.cudaGetLastError() == 101
    assert PyGPU.cudaGetLastError() == PyGPU.cudaPeekAtLastError() == 0


def test_the_last_error_is_the_latest():
    PyGPU.cudaSetDevice(NO_SUCH_DEVICE)
    assert PyGPU.cudaMalloc(2**60)[1] == 2
    assert PyGPU.cudaGetLastError() == 2


def test_the_last_error_belongs_to_the_thread():
    seen = []
    PyGPU.cudaSetDevice(NO_SUCH_DEVICE)
    thread = threading.Thread(target=lambda: seen.append(PyGPU.cudaGetLastError()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert PyGPU.cudaGetLastError() == 101


def test_a_call_that_pygpu_refuses_does_not_reach_the_runtime():
    PyGPU.cudaGetLastError()
    assert failed_copy() == 1
    assert PyGPU.cudaPeekAtLastError() == 0


def test_an_exception_takes_the_last_error_along():
    PyGPU.cudaGetLastError()
    with pytest.raises(errors.MemoryError):
        PyGPU.GPUArray(2**60, "uint8")
    assert PyGPU.cudaPeekAtLastError() == 0


# From a status to an exception.

CLASSES = [
    *[(code, errors.LaunchError) for code in (701, 702, 703, 719)],
    (2, errors.MemoryError),
    *[(code, errors.RuntimeError) for code in (3, 35, 46, 100, 209, 214, 301, 600)],
    (999, errors.Error),
    *[(code, errors.LogicError) for code in (1, 12, 17, 21, 101, 400, 700, 704, 712, 801, 12345)],
]


@pytest.mark.parametrize(("code", "expected"), CLASSES)
def test_each_code_has_the_class_that_pycuda_gives_it(code, expected):
    with pytest.raises(errors.Error) as caught:
        errors.check(cudaError_t(code), "cudaFoo")
    error = caught.value
    assert type(error) is expected
    assert error.call == "cudaFoo" and error.status == code
    assert str(error).startswith(f"cudaFoo failed: {cudaError_t(code).string}")


def test_classes_that_share_a_builtins_name_are_that_builtin():
    assert issubclass(errors.MemoryError, builtins.MemoryError)
    assert issubclass(errors.RuntimeError, builtins.RuntimeError)
    for name in ("MemoryError", "LogicError", "LaunchError", "RuntimeError", "CompileError"):
        assert issubclass(getattr(errors, name), errors.Error)
    assert not issubclass(errors.LogicError, (builtins.RuntimeError, builtins.MemoryError))
    assert not issubclass(errors.LaunchError, (builtins.RuntimeError, builtins.MemoryError))


def test_check_gives_what_the_call_yielded():
    good = cudaError_t()
    assert errors.check(good) is None
    assert errors.check((good,)) is None
    assert errors.check((7, good)) == 7
    assert errors.check((7, 8, good)) == (7, 8)
    assert errors.check((None, good)) is None
    assert errors.check(((1, 2), good)) == (1, 2)
    assert errors.check(PyGPU.cudaGetDevice()) == PyGPU.cudaGetDevice()[0]


def test_check_raises_for_the_status_at_the_end():
    with pytest.raises(errors.MemoryError):
        errors.check((0, 0, cudaError_t(2)))
    with pytest.raises(errors.LogicError, match=r"^device call failed: "):
        errors.check(cudaError_t(1))


@pytest.mark.parametrize("bad", [5, None])
def test_check_refuses_what_is_no_outcome(bad):
    with pytest.raises(TypeError):
        errors.check(bad)


def test_the_message_ends_with_what_pygpu_knows():
    with pytest.raises(errors.LogicError) as caught:
        errors.check(failed_copy(), "cudaMemcpy")
    status = caught.value.status
    assert str(caught.value) == f"cudaMemcpy failed: {status.string} - {status.detail}"


@pytest.mark.parametrize("code", [35, 100])
def test_without_a_device_the_message_says_what_to_try(code):
    assert "PYGPU_TARGET=host" in str(errors.exception_of("cudaGetDevice", cudaError_t(code)))


def test_errors_of_the_arrays_are_the_same_exceptions():
    with pytest.raises(errors.MemoryError) as caught:
        PyGPU.GPUArray(2**60, "uint8")
    error = caught.value
    assert isinstance(error, builtins.MemoryError)
    assert error.status == 2 and str(2**60) in error.status.detail
    assert error.call.startswith("cudaMalloc") and error.call in str(error)


def test_a_device_error_can_be_pickled():
    error = errors.exception_of("cudaMemcpy", failed_copy())
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is errors.LogicError and str(back) == str(error)
    assert back.call == "cudaMemcpy" and back.status == 1


def test_a_compile_error_shows_the_command_and_the_output():
    error = errors.CompileError("nvcc failed", ["nvcc", pathlib.Path("k.cu"), 3], stderr="line 1")
    assert isinstance(error, errors.Error)
    assert (error.msg, error.stdout, error.stderr) == ("nvcc failed", None, "line 1")
    text = str(error)
    assert text == "nvcc failed\n[stderr:\nline 1]\n[command: nvcc k.cu 3]"
    assert "stdout" not in text
    assert str(errors.CompileError("m", [], stdout="out")) == "m\n[stdout:\nout]\n[command: ]"
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is errors.CompileError and str(back) == text
    assert back.command_line == error.command_line


OPERATIONS = {
    "an operator": lambda a: a + 1,
    "a reduction": lambda a: a.sum(),
    "a selection": lambda a: a[(a > 1).astype(bool)],
    "get": lambda a: a.get(),
    "set": lambda a: a.set(np.arange(4.0)),
    "a kernel": lambda a: kernel("__global__ void one(double *a) { *a = 1; }", "one")(
        a, block=(1, 1, 1)
    ),
    "an elementwise kernel": lambda a: ElementwiseKernel("double *a", "a[i] = i")(a),
}


@cache
def kernel(text, name):
    return SourceModule(text).get_function(name)


@pytest.mark.skipif(PyGPU.target != "host", reason="elsewhere each library has its own last error")
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_error_left_by_another_library_is_reported_once(name):
    library = ctypes.CDLL(f"{PyGPU.get_library_dir()}/libPyGPU_host.so")
    a = PyGPU.to_gpu(np.arange(4.0))
    OPERATIONS[name](a)
    assert library.PyGPU_host_cudaSetDevice(99) == PyGPU.cudaErrorInvalidDevice
    with pytest.raises(PyGPU.errors.Error, match=r"outside PyGPU.*invalid device"):
        OPERATIONS[name](a)
    OPERATIONS[name](a)
    assert PyGPU.cudaGetLastError() == 0


@pytest.mark.skipif(PyGPU.target != "host", reason="elsewhere each library has its own last error")
def test_an_allocation_that_failed_in_another_library_is_noted(capfd):
    """A library that handles the failure leaves nothing undone."""
    library = ctypes.CDLL(f"{PyGPU.get_library_dir()}/libPyGPU_host.so")
    a, address = PyGPU.zeros(4), ctypes.c_void_p()
    error = library.PyGPU_host_cudaMalloc(ctypes.byref(address), ctypes.c_size_t(1 << 60))
    assert error == PyGPU.cudaErrorMemoryAllocation
    a += 1
    np.testing.assert_array_equal(a.get(), np.ones(4))
    note = "PyGPU: note: an earlier call outside PyGPU failed (out of memory)"
    assert capfd.readouterr().err.count(note) == 1


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_error_that_the_low_level_returned_is_known(name):
    a = PyGPU.to_gpu(np.arange(4.0))
    assert PyGPU.cudaSetDevice(99) == PyGPU.cudaErrorInvalidDevice
    OPERATIONS[name](a)


# Whose status they keep, or return by another way than the runtime's calls do.
FAILING = {
    "cudaStream_t": lambda: PyGPU.cudaStream_t(99),
    "cudaEvent_t": lambda: PyGPU.cudaEvent_t(99),
    "an Allocator": lambda: PyGPU.DeviceAllocator_float32().allocate(1 << 58),
    "a page-locked Allocator": lambda: PyGPU.PagelockedAllocator_float32().allocate(1 << 58),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_error_that_an_object_keeps_is_known(name):
    failed = FAILING[name]()
    assert failed.last_status() if hasattr(failed, "last_status") else failed
    PyGPU.to_gpu(np.arange(4.0))
