"""
FFT by a kernel of your own
===========================

PyGPU has no FFT of its own. Each block of this kernel transforms a row in shared memory. The
picture is the spectrogram of a sound that rises. ``PyGPU.load`` can call a vendor's library, too.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

SIZE, FRAMES, RATE = 512, 300, 8000.0  # size: a power of two

module = SourceModule("""
#include <pycuda-complex.hpp>
typedef pycuda::complex<float> number;
__global__ void fft(number *rows, int size, int bits) {
  extern __shared__ float2 memory[];
  number *row = (number *)memory, *global = rows + size_t(blockIdx.x) * size;
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    row[__brev(i) >> (32 - bits)] = global[i];
  __syncthreads();
  for (int half = 1; half < size; half *= 2) {
    for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
      int offset = i % half, first = 2 * i - offset;
      float sine, cosine;
      sincospif(-float(offset) / half, &sine, &cosine);
      number even = row[first], odd = number(cosine, sine) * row[first + half];
      row[first] = even + odd;
      row[first + half] = even - odd;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < size; i += blockDim.x) global[i] = row[i];
}
""")
fft = module.get_function("fft")


def transformed(rows):
    """Return the FFT of each row of a complex64 array."""
    out, (count, size) = rows.copy(), rows.shape
    bits = size.bit_length() - 1
    fft(out, size, bits, block=(128, 1, 1), grid=(count, 1), shared=8 * size)
    return out


# %%
# Each row of ``frames`` is a window of the sound, and half of it is in the next row as well.

t = np.arange((FRAMES + 1) * SIZE // 2) / RATE
sound = np.sin(2 * np.pi * (300 + 150 * t) * t) + 0.5 * np.sin(
    2 * np.pi * 2500 * t + 60 * np.cos(t)
)
sound += np.random.default_rng(5).normal(0, 0.2, t.size)
frames = np.stack([sound[SIZE // 2 * i :][:SIZE] for i in range(FRAMES)]) * np.hanning(SIZE)
frames = frames.astype(np.complex64)
spectra = transformed(gpuarray.to_gpu(frames))
error = float(abs(spectra.get() - np.fft.fft(frames)).max())
print(f"largest difference from NumPy's FFT: {error:.1e}")

# %%

figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
decibels = 20 * np.log10(abs(spectra[:, : SIZE // 2]).get().T + 1e-3)
axes.imshow(decibels, origin="lower", aspect="auto", extent=(0, t[-1], 0, RATE / 2), cmap="viridis")
axes.set(xlabel="time in s", ylabel="frequency in Hz")
