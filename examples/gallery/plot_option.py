"""
Monte Carlo: the price of an option
===================================

Random numbers on the device, one fused kernel, and a mean. The error falls with the square root of
the number of paths.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import PyGPU
from PyGPU import curandom

LARGEST = 20  # 2**LARGEST paths at most
SPOT, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.03, 0.2, 1.0

# %%
# The function works on arrays of NumPy and of PyGPU. ``PyGPU.fuse`` makes one kernel of it.


@PyGPU.fuse
def payoff(normal, spot, strike, growth, width):
    return np.maximum(spot * np.exp(growth + width * normal) - strike, 0)


def exact():
    """Return the price by the formula of Black and Scholes."""
    width = VOLATILITY * math.sqrt(YEARS)
    first = (math.log(SPOT / STRIKE) + (RATE + VOLATILITY**2 / 2) * YEARS) / width
    chance = [0.5 * (1 + math.erf(each / math.sqrt(2))) for each in (first, first - width)]
    return SPOT * chance[0] - STRIKE * math.exp(-RATE * YEARS) * chance[1]


generator = curandom.Philox4x32RandomNumberGenerator(seed=1)
growth, width = (RATE - VOLATILITY**2 / 2) * YEARS, VOLATILITY * math.sqrt(YEARS)
sizes = [2**power for power in range(6, LARGEST + 1)]
errors = []
for paths in sizes:
    final = payoff(generator.gen_normal(paths, np.float64), SPOT, STRIKE, growth, width)
    price = math.exp(-RATE * YEARS) * float(np.mean(final))
    errors.append(abs(price - exact()))
spread = math.exp(-RATE * YEARS) * float(np.std(final))
print(f"price: {price:.3f}, exact: {exact():.3f}")

# %%

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.loglog(sizes, errors, "o", label="error of the price")
axes.loglog(sizes, spread / np.sqrt(sizes), label="expected: spread / sqrt(paths)")
axes.set(xlabel="paths", ylabel="error")
axes.legend()
