"""Arguments of the memory calls: what passes for an address, what does not, and IPC handles."""

import needs
import numpy as np
import pytest
from campaign import each_once
from stand_ins import Carrier

import PyGPU
from PyGPU.errors import check

MB = 1 << 20


class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Int:
    def __init__(self, number):
        self.number = number

    def __int__(self):
        return self.number


ADDRESSES = {
    "int": int,
    "pointer_wrapper": PyGPU.pointer_wrapper_uint8,
    "NumPy's int": np.uint64,
    "__index__": Index,
    "__int__": Int,
    ".ptr": lambda address: Carrier(ptr=address),
    "__cuda_array_interface__": lambda address: Carrier(
        __cuda_array_interface__={"data": (address, False)}
    ),
    "GPUArray": lambda address: PyGPU.GPUArray(MB, "uint8", gpudata=address),
}


@pytest.mark.parametrize("form", ADDRESSES)
def test_what_passes_for_an_address(form):
    data = np.arange(8, dtype=np.uint8)
    found = np.zeros_like(data)
    number = check(PyGPU.cudaMalloc(MB))
    address = ADDRESSES[form](number)
    assert PyGPU.cudaMemset(address, 1, MB) == 0
    assert PyGPU.cudaMemcpy(address, data, 8) == 0
    assert PyGPU.cudaMemcpy(found, address, 8) == 0
    assert (found == data).all()
    attributes, status = PyGPU.cudaPointerGetAttributes(address)
    assert status == 0 and attributes["devicePointer"] == number
    assert PyGPU.cudaFree(address) == 0


NO_ADDRESSES = ["0", 0.0, None, [0], (0,), {}, object(), np.float64(1), Carrier(ptr="0")]

ON_AN_ADDRESS = [
    (PyGPU.cudaFree, "address"),
    (PyGPU.cudaFreeAsync, "address"),
    (PyGPU.cudaFreeHost, "address"),
    (PyGPU.cudaHostGetDevicePointer, "address"),
    (PyGPU.cudaHostGetFlags, "address"),
    (PyGPU.cudaPointerGetAttributes, "address"),
    (PyGPU.cudaIpcGetMemHandle, "address"),
    (PyGPU.cudaIpcCloseMemHandle, "address"),
    (lambda bad: PyGPU.cudaStreamAttachMemAsync(None, bad), "address"),
    (lambda bad: PyGPU.cudaMemPrefetchAsync(bad, 1, 0), "address"),
    (lambda bad: PyGPU.cudaMemset(bad, 0, 0), "dst"),
    (lambda bad: PyGPU.cudaMemsetAsync(bad, 0, 0), "dst"),
    (lambda bad: PyGPU.cudaMemset2D(bad, 0, 0, 0, 0), "dst"),
    (lambda bad: PyGPU.cudaMemset2DAsync(bad, 0, 0, 0, 0), "dst"),
    (lambda bad: PyGPU.cudaMemcpyPeer(bad, 0, 0, 0, 0), "dst"),
    (lambda bad: PyGPU.cudaMemcpyPeer(0, 0, bad, 0, 0), "src"),
    (lambda bad: PyGPU.cudaMemcpyPeerAsync(bad, 0, 0, 0, 0), "dst"),
    (lambda bad: PyGPU.cudaMemcpyPeerAsync(0, 0, bad, 0, 0), "src"),
]


@pytest.mark.parametrize(
    ("call", "name", "bad"), each_once(ON_AN_ADDRESS, [(bad,) for bad in NO_ADDRESSES])
)
def test_what_does_not_pass_for_an_address(call, name, bad):
    with pytest.raises(TypeError, match=name):
        call(bad)


@pytest.mark.parametrize(
    ("call", "name", "bad"),
    each_once(ON_AN_ADDRESS, [-1, -(2**70), 2**64, Index(-1), Index(2**64), np.int64(-1)]),
)
def test_numbers_that_are_no_addresses(call, name, bad):
    with pytest.raises((ValueError, OverflowError), match=name):
        call(bad)


# Each with the arguments that come before the size.
SIZES = [
    (PyGPU.cudaMalloc, (), "nbytes"),
    (PyGPU.cudaMallocAsync, (), "nbytes"),
    (PyGPU.cudaMallocManaged, (), "nbytes"),
    (PyGPU.cudaMallocHost, (), "nbytes"),
    (PyGPU.cudaHostAlloc, (), "nbytes"),
    (PyGPU.cudaMallocPitch, (8,), "height"),
    (PyGPU.cudaHostRegister, (0,), "nbytes"),
    (lambda size: PyGPU.cudaMemPrefetchAsync(0, size, 0), (), "nbytes"),
    (PyGPU.cudaMemcpy, (0, 0), "count"),
    (PyGPU.cudaMemcpyAsync, (0, 0), "count"),
    (PyGPU.cudaMemcpyPeer, (0, 0, 0, 0), "count"),
    (PyGPU.cudaMemset, (0, 0), "count"),
    (lambda size: PyGPU.cudaMemset2D(0, size, 0, 0, 0), (), "pitch"),
    (lambda size: PyGPU.cudaMemset2D(0, 0, 0, size, 0), (), "width"),
    (lambda size: PyGPU.cudaMemcpy2D(0, size, 0, 0, 0, 0), (), "dpitch"),
    (lambda size: PyGPU.cudaMemcpy2D(0, 0, 0, size, 0, 0), (), "spitch"),
]


@pytest.mark.parametrize(
    ("call", "before", "name", "bad"), each_once(SIZES, ["1", 1.5, None, -1, 2**64, [1]])
)
def test_sizes_are_ints_that_are_not_negative(call, before, name, bad):
    with pytest.raises(TypeError, match=name):
        call(*before, bad)


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (PyGPU.cudaMemcpy, (0, 0, 0, "up"), "kind"),
        (PyGPU.cudaMemcpyAsync, (0, 0, 0, None), "kind"),
        (PyGPU.cudaMemcpy2D, (0, 0, 0, 0, 0, 0, 1.5), "kind"),
        (PyGPU.cudaMemset, (0, "0", 0), "value"),
        (PyGPU.cudaMemcpyPeer, (0, "0", 0, 0, 0), "dst_device"),
        (PyGPU.cudaMemcpyPeer, (0, 0, 0, None, 0), "src_device"),
        (PyGPU.cudaMemPrefetchAsync, (0, 1, "host"), "device"),
        (PyGPU.cudaMallocManaged, (0, "global"), "flags"),
        (PyGPU.cudaHostAlloc, (0, -1), "flags"),
        (PyGPU.cudaStreamAttachMemAsync, (None, 0, 0, "all"), "flags"),
    ],
)
def test_the_other_arguments_are_ints(call, arguments, name):
    with pytest.raises(TypeError, match=name):
        call(*arguments)


def test_arguments_have_names():
    address = check(PyGPU.cudaMalloc(nbytes=8))
    assert PyGPU.cudaMemset(dst=address, value=1, count=8) == 0
    found = bytearray(8)
    kind = PyGPU.cudaMemcpyDeviceToHost
    assert PyGPU.cudaMemcpy(dst=found, src=address, count=8, kind=kind) == 0
    assert found == b"\1" * 8
    assert PyGPU.cudaFree(address=address) == 0


# Sharing between processes.


def test_ipc_handles_are_64_bytes():
    address = check(PyGPU.cudaMalloc(2 * MB))
    event = PyGPU.cudaEvent_t(PyGPU.cudaEventInterprocess | PyGPU.cudaEventDisableTiming)
    for handle, status in (
        PyGPU.cudaIpcGetMemHandle(address),
        PyGPU.cudaIpcGetEventHandle(event),
    ):
        assert status == 0
        assert isinstance(handle, bytes) and len(handle) == 64 and any(handle)
    assert PyGPU.cudaFree(address) == 0


def test_what_cannot_be_shared():
    address = check(PyGPU.cudaMallocAsync(2 * MB, 0))
    handle, status = PyGPU.cudaIpcGetMemHandle(address)
    assert status != 0 and not any(handle)
    check(PyGPU.cudaFreeAsync(address, 0))
    handle, status = PyGPU.cudaIpcGetEventHandle(PyGPU.cudaEvent_t())
    assert status != 0 and not any(handle)
    address = check(PyGPU.cudaMalloc(2 * MB))
    handle = check(PyGPU.cudaIpcGetMemHandle(address))
    opened, status = PyGPU.cudaIpcOpenMemHandle(handle)  # by the process that owns it
    assert status != 0 and opened == 0
    assert PyGPU.cudaIpcCloseMemHandle(address) != 0
    assert PyGPU.cudaFree(address) == 0
    PyGPU.cudaGetLastError()


@pytest.mark.skipif(not needs.ON_MACHINE, reason="a GPU shares the block of a small allocation")
def test_small_allocations_of_the_host_machine_cannot_be_shared():
    address = check(PyGPU.cudaMalloc(MB))
    handle, status = PyGPU.cudaIpcGetMemHandle(address)
    assert status == PyGPU.cudaErrorNotSupported and not any(handle)
    assert PyGPU.cudaIpcOpenMemHandle(bytes(64)) == (0, PyGPU.cudaErrorInvalidValue)
    assert PyGPU.cudaFree(address) == 0


@pytest.mark.parametrize("call", [PyGPU.cudaIpcOpenMemHandle, PyGPU.cudaIpcOpenEventHandle])
def test_ipc_handles_have_their_size_and_type(call):
    for bad in (b"", bytes(63), bytes(65)):
        with pytest.raises(ValueError, match=r"handle: expected 64 bytes"):
            call(bad)
    for bad in (64, None, "x" * 64, [0] * 64):
        with pytest.raises(TypeError, match="handle"):
            call(bad)
    with pytest.raises(TypeError, match="event"):
        PyGPU.cudaIpcGetEventHandle(0)
