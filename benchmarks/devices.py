"""The quickstart's spectrum of many series on one device and on several, with data in memory.

Run: python benchmarks/devices.py [--series 64] [--periods 200000], on a machine with two devices or
more. Each device has its part of the series; one thread launches on all of them and then waits. The
whole program beside it copies the series to the devices and the spectra back.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray

SOURCE = Path(__file__).parents[1] / "examples" / "user_library" / "lombscargle.cu"
SAMPLES, ROUNDS = 309, 5


class Part:
    """The series of one device, and what is computed from them."""

    def __init__(self, device, times, series, frequencies):
        self.device = device
        with PyGPU.device(device):
            self.times, self.frequencies = gpuarray.to_gpu(times), gpuarray.to_gpu(frequencies)
            self.series = gpuarray.to_gpu(series)
            self.power = gpuarray.empty((len(series), frequencies.size), np.float64)

    def compute(self, library):
        with PyGPU.device(self.device):
            for values, power in zip(self.series, self.power):
                library.lombscargle(
                    self.times, values, SAMPLES, self.frequencies, power, self.frequencies.size
                )

    def wait(self):
        with PyGPU.device(self.device):
            drv.Context.synchronize()


def measured(library, devices, times, series, frequencies):
    """Return the seconds of the whole program and of the devices' part, and the spectra."""
    whole, computing, spectra = [], [], None
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        parts = [
            Part(device, times, part, frequencies)
            for device, part in zip(devices, np.array_split(series, len(devices)))
        ]
        for part in parts:
            part.wait()
        loaded = time.perf_counter()
        for part in parts:
            part.compute(library)
        for part in parts:
            part.wait()
        computing.append(time.perf_counter() - loaded)
        spectra = np.concatenate([part.power.get() for part in parts])
        whole.append(time.perf_counter() - begin)
    return np.median(whole), np.median(computing), spectra


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=64)
    parser.add_argument("--periods", type=int, default=200_000)
    arguments = parser.parse_args()
    count = drv.Device.count()
    if count < 2:
        sys.exit(f"expected two devices or more, found {count}")
    library = PyGPU.load(SOURCE)
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 300, SAMPLES))
    series = rng.normal(size=(arguments.series, SAMPLES))
    frequencies = 1 / np.geomspace(100, 2, arguments.periods, endpoint=False)
    print(f"{count} x {PyGPU.cudaDeviceProp(0).name()}: {arguments.series} series of {SAMPLES}")
    alone = measured(library, [0], times, series, frequencies)
    for used in range(1, count + 1):
        found = measured(library, range(used), times, series, frequencies)
        np.testing.assert_array_equal(found[2], alone[2])
        print(
            f"{used} devices: with data in memory {found[1] * 1e3:.1f} ms "
            f"({alone[1] / found[1]:.2f} x one device), whole {found[0] * 1e3:.1f} ms "
            f"({alone[0] / found[0]:.2f} x)"
        )


if __name__ == "__main__":
    main()
