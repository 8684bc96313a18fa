"""
Period of the sunspots
======================

A compiled library of your own, called on PyGPU's arrays: the spectrum of three centuries of sunspot
counts. ``PyGPU.load`` builds the CUDA source for the target in use.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import PyGPU
import PyGPU.gpuarray as gpuarray

PERIODS = 2000
# The site's build runs programs without __file__, in their folder.
EXAMPLES = Path(globals().get("__file__", "plot_sunspots.py")).resolve().parent.parent

years, spots = np.loadtxt(EXAMPLES / "sunspots.csv", delimiter=",", unpack=True)
centred = spots - spots.mean()
periods = np.linspace(4, 20, PERIODS)

# %%
# The library has one function, ``lombscargle``. Its types are in the library, so each call checks
# the dtypes of the arrays.

library = PyGPU.load(EXAMPLES / "user_library" / "lombscargle.cu")
print(library.lombscargle.signature)

power = gpuarray.empty(PERIODS, np.float64)
library.lombscargle(
    gpuarray.to_gpu(years),
    gpuarray.to_gpu(centred),
    years.size,
    gpuarray.to_gpu(1 / periods),
    power,
    PERIODS,
)
spectrum = power.get()
strongest = periods[spectrum.argmax()]
print(f"strongest period: {strongest:.1f} years")

# %%
# The counts, and their spectrum with its maximum at eleven years.

figure, (above, below) = plt.subplots(2, figsize=(8, 6), layout="constrained")
above.plot(years, spots, linewidth=0.8)
above.set(xlabel="year", ylabel="sunspots")
below.plot(periods, spectrum)
below.axvline(strongest, color="tab:red", linestyle=":")
below.set(xlabel="period in years", ylabel="share of the variance")
