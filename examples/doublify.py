"""Double a matrix on the device in five ways, from explicit copies to an array's arithmetic."""

import numpy as np

import PyGPU.autoinit  # noqa: F401  takes the default device
import PyGPU.driver as cuda
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

module = SourceModule("""
__global__ void doublify(float *a) {
    int i = threadIdx.x + 4 * threadIdx.y;
    a[i] *= 2;
}
""")
doublify = module.get_function("doublify")
grid, block = (1, 1), (4, 4, 1)  # one block: a thread for each of the 4 x 4 elements

a = np.random.default_rng().standard_normal((4, 4)).astype(np.float32)
print(f"original:\n{a}")

# 1. Memory and copies by hand.
a_gpu = cuda.mem_alloc(a.nbytes)
cuda.memcpy_htod(a_gpu, a)
doublify(a_gpu, block=block)
by_copies = np.empty_like(a)
cuda.memcpy_dtoh(by_copies, a_gpu)
print(f"by copies:\n{by_copies}")
assert np.array_equal(by_copies, 2 * a)

# 2. InOut makes the memory and both copies, and leaves the result in the host array.
by_inout = a.copy()
doublify(cuda.InOut(by_inout), block=block)
print(f"by InOut:\n{by_inout}")
assert np.array_equal(by_inout, 2 * a)

# 3. A prepared call: the types are given once ("P" is a pointer), so each call has less to do.
cuda.memcpy_htod(a_gpu, a)
doublify.prepare("P")
doublify.prepared_call(grid, block, a_gpu)
by_prepared = cuda.from_device(a_gpu, a.shape, a.dtype)
print(f"by a prepared call:\n{by_prepared}")
assert np.array_equal(by_prepared, 2 * a)

# 4. A GPUArray owns its memory and knows its shape and dtype.
array_gpu = gpuarray.to_gpu(a)
doublify(array_gpu, block=block)
by_array = array_gpu.get()
print(f"by a GPUArray:\n{by_array}")
assert np.array_equal(by_array, 2 * a)

# 5. Its arithmetic needs no kernel of ours.
a_doubled = (2 * gpuarray.to_gpu(a)).get()
print(f"by arithmetic:\n{a_doubled}")
assert np.array_equal(a_doubled, 2 * a)
