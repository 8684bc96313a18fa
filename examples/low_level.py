"""The low level: a status from every call, and arrays with a host side and a device side."""

import numpy as np

import PyGPU
from PyGPU.compiler import SourceModule

fn = SourceModule("""
__global__ void square(long long *a, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) a[i] *= a[i];
}
""").get_function("square")

status = PyGPU.cudaSetDevice(0)
print(f"cudaSetDevice(0): {status}")
device, status = PyGPU.cudaGetDevice()
print(f"cudaGetDevice(): device {device}, {status}")
assert device == 0 and not status

# Nothing raises: this status says that there is no such device.
refused = PyGPU.cudaSetDevice(10**6)
print(f"cudaSetDevice(10**6): {refused}")
assert refused
PyGPU.cudaGetLastError()  # read, so forgotten

A = np.array([1, 2, 3, 4, 5, 6])  # int64, hence DeviceArray_int64
da = PyGPU.DeviceArray_int64(A)  # its host side is A's own memory
for step in (da.allocate, da.to_device):
    step()
    assert not da.last_status(), da.last_status()
fn(da.device_data(), np.int32(da.size()), block=(32, 1, 1))
da.to_host()
print(f"A, squared on the device: {A}")
assert A.tolist() == [1, 4, 9, 16, 25, 36]

# Streams and events are objects; an event is on a stream only once it is recorded.
stream, start, end = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
PyGPU.cudaEventRecord(start, stream)
PyGPU.cudaEventRecord(end, stream)
PyGPU.cudaEventSynchronize(end)
milliseconds, status = PyGPU.cudaEventElapsedTime(start, end)
print(f"events: {status}, time in order: {milliseconds >= 0}")
assert not status and milliseconds >= 0

# The high level allocates by itself.
k_gpu = PyGPU.to_gpu(np.array([1, 2, 3, 4, 5, 6]))
fk_gpu = PyGPU.GPUArray((3, 3, 3), dtype=np.complex128)
fk = fk_gpu.get()
print(f"arrays: {k_gpu.get()}, {fk.dtype} {fk.shape}, .ptr is an {type(k_gpu.ptr).__name__}")
assert fk.shape == (3, 3, 3) and k_gpu.get().sum() == 21
