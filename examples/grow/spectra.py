"""The quickstart's spectrum of many series from files: find the strongest period of each.

    python spectra.py make data --files 8       write files of series to the folder data
    python spectra.py one data                  compute on one device
    python spectra.py threads data --devices 2  on several devices, by a thread for each
    mpiexec -n 2 python spectra.py mpi data     by several processes of MPI
    python spectra.py dask data --workers 2     by a cluster of Dask
    python spectra.py part data --part 0 --parts 2   one part of two, as a task of an array job

Each way computes the files in another place by the same function, `strongest`.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import PyGPU
from PyGPU.errors import check

SOURCE = Path(__file__).resolve().parents[1] / "user_library" / "lombscargle.cu"
PERIODS = np.geomspace(50, 2, 1000, endpoint=False)  # trial periods
SERIES, SAMPLES = 10, 200  # of a file


def make(folder, files):
    """Write series of noise and one sine, whose periods are known."""
    folder.mkdir(exist_ok=True)
    for k in range(files):
        random = np.random.default_rng(k)
        times = np.sort(random.uniform(0, 200, (SERIES, SAMPLES)))
        periods = random.uniform(3, 30, (SERIES, 1))
        values = np.sin(2 * np.pi * times / periods) + random.normal(0, 0.5, times.shape)
        values -= values.mean(axis=1, keepdims=True)
        np.save(folder / f"{k:04}.npy", np.stack([times, values], axis=1))
        np.save(folder / f"{k:04}.periods", periods[:, 0])  # NumPy appends .npy


def strongest(path):
    """Return the strongest period of each series of a file, computed on the current device."""
    library = PyGPU.load(SOURCE)  # compiled once, then found in the cache
    series = PyGPU.to_gpu(np.load(path))
    frequencies = PyGPU.to_gpu(1 / PERIODS)
    power = PyGPU.gpuarray.empty((len(series), PERIODS.size), np.float64)
    for (times, values), row in zip(series, power):
        library.lombscargle(times, values, times.size, frequencies, row, PERIODS.size)
    return PERIODS[np.argmax(power, axis=1).get()]


def by_threads(paths, devices):
    count = check(PyGPU.cudaGetDeviceCount())
    if devices > count:
        raise SystemExit(f"--devices {devices}: this machine has {count}")
    numbers = iter(range(devices))
    use_next_device = lambda: check(PyGPU.cudaSetDevice(next(numbers)))  # noqa: E731
    with ThreadPoolExecutor(devices, initializer=use_next_device) as pool:
        return list(pool.map(strongest, paths))


def by_mpi(paths):
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    local = world.Split_type(MPI.COMM_TYPE_SHARED)  # the processes of this machine
    check(PyGPU.cudaSetDevice(local.rank % check(PyGPU.cudaGetDeviceCount())))
    found = world.gather([strongest(path) for path in paths[world.rank :: world.size]])
    if world.rank > 0:
        raise SystemExit
    return [found[k % world.size][k // world.size] for k in range(len(paths))]


def by_dask(paths, workers):
    from distributed import Client, Nanny, Scheduler, SpecCluster

    def worker(k):  # sees one GPU
        devices = {name: str(k) for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")}
        return {"cls": Nanny, "options": {"nthreads": 1, "env": devices, "silence_logs": 40}}

    cluster = SpecCluster(
        {k: worker(k) for k in range(workers)},
        {"cls": Scheduler, "options": {"dashboard_address": ":0"}},
        silence_logs=40,
    )
    with cluster, Client(cluster) as client:
        return client.gather(client.map(strongest, paths))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=["make", "one", "threads", "mpi", "dask", "part"])
    parser.add_argument("folder", type=Path)
    for name, default in {"files": 8, "devices": 2, "workers": 2, "part": 0, "parts": 2}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if options.way == "make":
        return make(options.folder.resolve(), options.files)
    paths = sorted(options.folder.resolve().glob("[0-9]*[0-9].npy"))
    output = f"{options.way}.csv"
    if options.way == "threads":
        found = by_threads(paths, options.devices)
    elif options.way == "mpi":
        found = by_mpi(paths)
    elif options.way == "dask":
        found = by_dask(paths, options.workers)
    else:
        if options.way == "part":
            paths = paths[options.part :: options.parts]
            output = f"part{options.part}.csv"
        found = [strongest(path) for path in paths]
    np.savetxt(output, np.concatenate(found), "%.6f")
    print(f"{output}: {len(paths)} files, by process {os.getpid()} on {PyGPU.target}")


if __name__ == "__main__":
    main()
