"""Find the sunspot cycle on a GPU, with device code of your own.

PyGPU does three things here: it holds arrays on the device, it moves them there and back, and it
compiles and calls the functions of a CUDA source (user_library/lombscargle.cu). Without a GPU the
same program runs on the host target.

    python quickstart.py [--plot sunspots.png]
"""

import argparse
from pathlib import Path

import numpy as np

import PyGPU
import PyGPU.gpuarray as gpuarray
from PyGPU.errors import check

SOURCE = Path(__file__).parent / "user_library" / "lombscargle.cu"


def round_trip(library):
    """The low level: a NumPy array, its twin on the device, a function on the twin, and back."""
    A = np.array([1, 2, 3, 4, 5, 6])
    da = PyGPU.DeviceArray_int64(A)  # host_data() is A's own memory
    check(da.allocate())
    check(da.to_device())
    library.double_int64(da, da.size())
    check(da.to_host())  # into A
    return A


def spectrum(library, years, spots, periods):
    """Lomb-Scargle power at each trial period, computed on the device."""
    years_gpu = gpuarray.to_gpu(years)
    spots_gpu = gpuarray.to_gpu(spots)
    frequencies_gpu = gpuarray.to_gpu(1 / periods)
    power_gpu = gpuarray.empty(periods.shape, np.float64)
    library.lombscargle(years_gpu, spots_gpu, years.size, frequencies_gpu, power_gpu, periods.size)
    return power_gpu.get()  # waits for the kernel


def spectrum_in_numpy(years, spots, periods):
    """The same formula in NumPy, a row of samples for each trial period."""
    omega = 2 * np.pi / periods[:, np.newaxis]
    double = 2 * omega * years
    tau = np.arctan2(np.sin(double).sum(1), np.cos(double).sum(1))[:, np.newaxis] / (2 * omega)
    c, s = np.cos(omega * (years - tau)), np.sin(omega * (years - tau))
    explained = (c @ spots) ** 2 / (c**2).sum(1) + (s @ spots) ** 2 / (s**2).sum(1)
    return explained / (spots @ spots)


def draw(periods, power, path):
    """Save the spectrum as an image; returns a line for the user."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no plot: matplotlib is not installed"
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.semilogx(periods, power)
    axes.set(xlabel="period (years)", ylabel="Lomb-Scargle power", title="Sunspots, 1700-2008")
    axes.set_xticks([2, 5, 10, 20, 50, 100], labels=[2, 5, 10, 20, 50, 100])
    figure.savefig(path)
    return f"plot: {path}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", default="sunspots.png", metavar="PATH", help="image to write")
    arguments = parser.parse_args()

    device = check(PyGPU.cudaGetDevice())
    print(f"target: {PyGPU.target}, device {device}: {PyGPU.cudaDeviceProp(device).name()}")
    library = PyGPU.load(SOURCE)  # built at first, then found in the cache

    doubled = round_trip(library)
    np.testing.assert_array_equal(doubled, [2, 4, 6, 8, 10, 12])
    print(f"round trip: 1 to 6, doubled on the device: {doubled}")

    record = np.loadtxt(Path(__file__).with_name("sunspots.csv"), delimiter=",")
    years = record[:, 0] - record[0, 0]  # a year apart, but the formula takes any times
    spots = record[:, 1] - record[:, 1].mean()
    # Down to but without 2 years, where the sine is zero at every sample: 0 / 0 in NumPy.
    periods = np.geomspace(100, 2, 5000, endpoint=False)

    power = spectrum(library, years, spots, periods)
    np.testing.assert_allclose(
        power, spectrum_in_numpy(years, spots, periods), rtol=1e-9, atol=1e-12
    )
    print(f"spectrum: {periods.size} trial periods, equal to NumPy's")

    strongest = periods[power.argmax()]
    print(f"strongest period: {strongest:.2f} years")
    if not 10 < strongest < 12:
        raise SystemExit("the sunspot cycle should take about 11 years")
    print(draw(periods, power, arguments.plot))


if __name__ == "__main__":
    main()
