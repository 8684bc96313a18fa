"""Text on the device: raw bytes, arrays of fixed-length strings, and what cannot be sent."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.driver as cuda
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

upper = SourceModule("""
__global__ void upper(char *text, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length && text[i] >= 'a' && text[i] <= 'z') text[i] -= 'a' - 'A';
}
""").get_function("upper")

# Bytes go as they are: nothing is converted, the kernel sees char[5] without a zero at the end.
# They never change in Python, so the way back leads into a bytearray.
stuff = b"stuff"
d_stuff = cuda.mem_alloc(len(stuff))
cuda.memcpy_htod(d_stuff, stuff)
newstuff = bytearray(len(stuff))
cuda.memcpy_dtoh(newstuff, d_stuff)
print(f"there and back: {newstuff.decode()}")
assert newstuff == stuff

upper(d_stuff, np.int32(len(stuff)), block=(32, 1, 1))
cuda.memcpy_dtoh(newstuff, d_stuff)
print(f"upper-cased: {newstuff.decode()}")
assert newstuff == stuff.upper()

# Twenty strings in one array. NumPy's S7 is char[7], filled up with zeros; its dtype travels with
# the array, so get() gives strings again. (A str would be U7: four bytes a character.)
words = np.array([f"stuff{i}" for i in range(20)]).astype(np.bytes_)
d_words = gpuarray.to_gpu(words)
back = d_words.get()
print(f"{back.dtype} array: {back[0].decode()} ... {back[-1].decode()}")
assert back.dtype == "S7" and np.array_equal(back, words)

upper(d_words, np.int32(words.nbytes), block=(64, 1, 1), grid=(-(-words.nbytes // 64), 1))
shouted = d_words.get()
print(f"upper-cased: {shouted[0].decode()} ... {shouted[-1].decode()}")
assert np.array_equal(shouted, np.char.upper(words))

# Python objects mean nothing to C, so an array of them is refused.
objects = np.array([f"stuff{i}" for i in range(20)], dtype=object)
try:
    gpuarray.to_gpu(objects)
except TypeError as error:
    print(f"refused: {error}")
else:
    raise SystemExit("an array of objects was taken")
