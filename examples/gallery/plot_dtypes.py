"""
Three dtypes compared
=====================

The same operations in float16, float32 and float64: how far sums, running sums and a map that is
iterated are from the exact result.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU
import PyGPU.gpuarray as gpuarray
from PyGPU.scan import InclusiveScanKernel

SIZE, STEPS = 4096, 60
DTYPES = (np.float16, np.float32, np.float64)

values = np.random.default_rng(6).random(SIZE).astype(np.float16)  # exact in all three dtypes
exact = np.cumsum(values.astype(np.longdouble))

# %%
# Kernels are compiled for each dtype; the program is the same. float16 is computed in float32, and
# rounded where a result is stored.


@PyGPU.fuse
def logistic(x):
    return 3.9 * x * (1 - x)


running, orbits = {}, {}
for dtype in DTYPES:
    array = gpuarray.to_gpu(values.astype(dtype))
    scan = InclusiveScanKernel(dtype, "a + b")
    sums = scan(array, output_ary="new").get().astype(np.longdouble)
    running[dtype] = abs(sums - exact) / exact
    x = gpuarray.full(1, 0.5, dtype)
    orbit = []
    for _ in range(STEPS):
        x = logistic(x).astype(dtype)
        orbit.append(float(x[0]))
    orbits[dtype] = np.array(orbit)
    print(
        f"{np.dtype(dtype).name}: largest relative error of a sum {float(running[dtype].max()):.1e}"
    )

# %%
# The logistic map amplifies every error from step to step, so that each dtype leaves the true orbit
# at its own time.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for dtype in DTYPES:
    name = np.dtype(dtype).name
    left.semilogy(np.maximum(running[dtype].astype(float), 1e-20), label=name)
    right.plot(orbits[dtype], label=name)
left.set(title="running sums", xlabel="elements", ylabel="relative error")
right.set(title="x = 3.9 x (1 - x)", xlabel="step", ylabel="x")
left.legend()
