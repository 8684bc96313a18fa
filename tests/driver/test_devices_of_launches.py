"""A kernel follows the memory in its arguments to its device, or says which devices are at odds."""

from cases import in_turn

BEGIN = """
import numpy as np
import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.errors import ArgumentError, check

def here(device):
    check(PyGPU.cudaSetDevice(device))

def on(device):
    here(device)
    array = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    here(0)
    return array

def refused(call, *devices):
    try:
        call()
    except ArgumentError as error:
        text = str(error)
        assert all(f"device {device}" in text for device in devices), text
    else:
        raise AssertionError("not refused")

TEXT = '''
__constant__ float factor = 2;
__global__ void scale(float *a) { a[threadIdx.x] *= factor; }
__global__ void add(float *a, const float *b) { a[threadIdx.x] += b[threadIdx.x]; }
__global__ void last(float *a, int n)
{
  extern __shared__ float room[];
  room[n - 1] = a[threadIdx.x];
  a[threadIdx.x] = room[n - 1] + 1;
}
'''
module = SourceModule(TEXT)
scale, add, last = (module.get_function(name) for name in ("scale", "add", "last"))
block = (4, 1, 1)
zero, one = on(0), on(1)
doubled = [0, 2, 4, 6]
"""

CASES = {
    "follows": """
scale(one, block=block)
scale(zero, block=block)
assert one.get().tolist() == zero.get().tolist() == doubled
assert check(PyGPU.cudaGetDevice()) == 0
scale(one, block=block)
assert one.get().tolist() == [0, 4, 8, 12]
""",
    "by whatever names the memory": """
scale(one.gpudata, block=block)
scale(np.intp(one.ptr), block=block)
scale(one[:], block=block)
scale(gpuarray.GPUArray(4, np.float32, gpudata=one.ptr), block=block)
assert one.get().tolist() == [0, 16, 32, 48]
""",
    "prepared": """
scale.prepare("P")
scale.prepared_call((1, 1), block, one.gpudata)
here(1)
stream = drv.Stream()
here(0)
scale.prepared_async_call((1, 1), block, stream, one)
stream.synchronize()
assert one.get().tolist() == [0, 4, 8, 12]
""",
    "devices at odds": """
refused(lambda: add(zero, one, block=block), 0, 1)
refused(lambda: add(one, zero, block=block), 0, 1)
refused(lambda: scale(one, block=block, stream=drv.Stream()), 0, 1)
assert zero.get().tolist() == one.get().tolist() == [0, 1, 2, 3]
""",
    "the stream decides where no memory does": """
here(1)
stream = drv.Stream()
here(0)
SourceModule("__global__ void nothing(int n) {}").get_function("nothing")(
    np.int32(1), block=block, stream=stream)
stream.synchronize()
""",
    "variables stay": """
address, nbytes = module.get_global("factor")
drv.memcpy_htod(address, np.float32([3]))
scale(zero, block=block)
assert zero.get().tolist() == [0, 3, 6, 9]
refused(lambda: scale(one, block=block), 0, 1)
""",
    "variables stay, where the kernel was before as well": """
scale(one, block=block)
assert one.get().tolist() == doubled
module.get_global("factor")
refused(lambda: scale(one, block=block), 0, 1)
""",
    "variables that kernels write stay": """
counting = SourceModule('''
__device__ int count;
__global__ void add(int *a) { count += 1; a[0] = count; }
''')
add = counting.get_function("add")
far, near = (gpuarray.to_gpu(np.int32([0])) for _ in range(2))
here(1)
far = gpuarray.to_gpu(np.int32([0]))
here(0)
add(far, block=(1, 1, 1))
add(far, block=(1, 1, 1))
assert far.get() == [2]
refused(lambda: add(near, block=(1, 1, 1)), 0)
try:
    counting.get_global("count")
except drv.LogicError as error:
    assert "device 1" in str(error) and "device 0" in str(error)
else:
    raise AssertionError("another device's variable")
""",
    "tables do not": """
look = SourceModule('''
static const __device__ float table[4] = {4, 3, 2, 1};
__global__ void look(float *a) { a[threadIdx.x] = table[threadIdx.x]; }
''').get_function("look")
look(zero, block=block)
look(one, block=block)
assert one.get().tolist() == zero.get().tolist() == [4, 3, 2, 1]
""",
    "textures": """
read = SourceModule('''
__global__ void read(float *a, cudaTextureObject_t from) {
  a[threadIdx.x] = tex1Dfetch<float>(from, threadIdx.x);
}
''').get_function("read")
ramp = gpuarray.to_gpu(np.float32([5, 6, 7, 8]))
near = drv.TextureObject(ramp)
read(zero, near, block=block)
assert zero.get().tolist() == [5, 6, 7, 8]
refused(lambda: read(one, near, block=block), 0, 1)
far = drv.TextureObject(on(1))  # of its memory's device
refused(lambda: read(zero, far, block=block), 0, 1)
read(one, far, block=block)
assert one.get().tolist() == [0, 1, 2, 3]
""",
    "references": """
module = SourceModule('''
texture<float, 1, cudaReadModeElementType> from;
__global__ void read(float *a) { a[threadIdx.x] = tex1Dfetch(from, threadIdx.x); }
''')
reference = module.get_texref("from")
one.bind_to_texref(reference)
try:
    module.get_function("read")(zero, block=block, texrefs=[reference])
except drv.LogicError as error:
    assert "'from'" in str(error) and "device 1" in str(error) and "device 0" in str(error)
else:
    raise AssertionError("another device's memory")
""",
    "a stream of another device, for array operations": """
here(1)
stream = drv.Stream()
here(0)
for call in (lambda: zero.fill(1, stream), lambda: gpuarray.sum(zero, stream=stream)):
    try:
        call()
    except PyGPU.errors.Error as error:
        assert "device 0" in str(error) and "stream belongs to device 1" in str(error), error
    else:
        raise AssertionError("accepted")
""",
    "copies and fills wait for the memory's own device": """
slow = SourceModule('''
__global__ void slow(float *a, int rounds) {
  float x = a[threadIdx.x];
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1;
  a[threadIdx.x] = x * 0 + 9;
}
''').get_function("slow")
rounds = np.int32(1000 if PyGPU.target == "host" else 20_000_000)
slow(one, rounds, block=block)
got = np.empty(4, np.float32)
drv.memcpy_dtoh(got, one.gpudata)
assert got.tolist() == [9] * 4
slow(one, rounds, block=block)
drv.memset_d32(one.gpudata, 0, 4)
assert one.get().tolist() == [0] * 4
slow(one, rounds, block=block)
drv.memcpy_htod(one.gpudata, np.float32([1, 2, 3, 4]))
assert one.get().tolist() == [1, 2, 3, 4]
assert check(PyGPU.cudaGetDevice()) == 0
""",
    "variables that are not there hold nothing": """
try:
    module.get_global("nothing")
except drv.LogicError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError("found")
scale(one, block=block)
assert one.get().tolist() == doubled
""",
    "attributes come along": """
room = 60 << 10
last.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, room)
last(one, np.int32(room // 4), block=(1, 1, 1), shared=room)
last.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, room + 1024)
last(one, np.int32(room // 4 + 256), block=(1, 1, 1), shared=room + 1024)
assert one.get().tolist() == [2, 1, 2, 3]
""",
    "memory that both reach": """
both = drv.managed_empty(4, np.float32)
both[:] = [0, 1, 2, 3]
add(one, both.base, block=block)
assert one.get().tolist() == doubled
""",
    "peers": """
if check(PyGPU.cudaDeviceCanAccessPeer(0, 1)):
    check(PyGPU.cudaDeviceEnablePeerAccess(1))
    add(zero, one, block=block)
    assert zero.get().tolist() == doubled
    check(PyGPU.cudaDeviceDisablePeerAccess(1))
refused(lambda: add(zero, one, block=block), 0, 1)
""",
}


def test_launches(two_devices):
    two_devices(in_turn(BEGIN, CASES))
