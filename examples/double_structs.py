"""Structures with device pointers inside: each block doubles the array that its structure names."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.driver as cuda
from PyGPU.compiler import SourceModule

module = SourceModule("""
struct DoubleOperation {
    int datalen, padding;  // together as long as a pointer, which then is aligned
    float *ptr;
};

__global__ void double_array(DoubleOperation *operation) {
    operation = &operation[blockIdx.x];
    for (int i = threadIdx.x; i < operation->datalen; i += blockDim.x)
        operation->ptr[i] *= 2;
}
""")
double_array = module.get_function("double_array")


class DoubleOpStruct:
    """A device array, and the DoubleOperation at a device address that describes it."""

    mem_size = 8 + np.intp(0).nbytes

    def __init__(self, array, struct_address):
        self.data = cuda.to_device(array)
        self.shape, self.dtype = array.shape, array.dtype
        # A NumPy scalar is a buffer of its bytes.
        cuda.memcpy_htod(int(struct_address), np.int32(array.size))
        cuda.memcpy_htod(int(struct_address) + 8, np.intp(int(self.data)))

    def __str__(self):
        return str(cuda.from_device(self.data, self.shape, self.dtype))


structs = cuda.mem_alloc(2 * DoubleOpStruct.mem_size)
second = int(structs) + DoubleOpStruct.mem_size  # an address inside the allocation

array1 = DoubleOpStruct(np.array([1, 2, 3], dtype=np.float32), structs)
array2 = DoubleOpStruct(np.array([0, 4], dtype=np.float32), second)
print("original arrays:", array1, array2)
assert (str(array1), str(array2)) == ("[1. 2. 3.]", "[0. 4.]")

double_array(structs, block=(32, 1, 1), grid=(2, 1))
print("both doubled:", array1, array2)
assert (str(array1), str(array2)) == ("[2. 4. 6.]", "[0. 8.]")

double_array(np.intp(second), block=(32, 1, 1), grid=(1, 1))
print("second doubled again:", array1, array2)
assert (str(array1), str(array2)) == ("[2. 4. 6.]", "[ 0. 16.]")
