"""A Dask cluster of two processes computes with GPUArrays: transfers, a killed worker, spilling.

Each process of the target host has a host machine of its own. On GPUs, both use the first device.
"""

import os
import signal
import sys
import time

import needs
import numpy as np
import pytest

import PyGPU

da = needs.module("dask.array")
distributed = needs.module("distributed")

X = np.random.default_rng(0).normal(size=(400, 600))
# Workers spill what is above 1 % of their limit, 10 MB, and nothing else makes them spill.
CONFIG = {
    "distributed.worker.memory.target": 0.01,
    **{f"distributed.worker.memory.{name}": False for name in ("spill", "pause", "terminate")},
}


@pytest.fixture(scope="module")
def client():
    environment = {"PYGPU_TARGET": PyGPU.target, "PYTHONPATH": os.pathsep.join(sys.path)}
    options = {"nthreads": 1, "memory_limit": "1GiB", "env": environment}
    worker = {"cls": distributed.Nanny, "options": options}
    with needs.module("dask").config.set(CONFIG):
        cluster = distributed.SpecCluster(
            {0: worker, 1: worker},
            # Other clusters of this machine may hold the port that a scheduler takes by itself.
            scheduler={
                "cls": distributed.Scheduler,
                "options": {"dashboard_address": "127.0.0.1:0"},
            },
            silence_logs=50,
        )
        with cluster, distributed.Client(cluster) as client:
            client.wait_for_workers(2)
            yield client


def array(chunks):
    return da.from_array(X, chunks=chunks).to_backend("PyGPU")


def slowly_doubled(block):
    time.sleep(0.1)
    return block * 2


def test_elements_travel_as_buffers_beside_the_pickle():
    header, frames = distributed.protocol.serialize(PyGPU.zeros(100_000, np.float64))
    assert header["serializer"] == "pickle"
    pickle, elements = (memoryview(frame).nbytes for frame in frames)
    assert elements == 800_000 and pickle < 1000


def test_workers_exchange_arrays(client):
    a = array((100, 200))
    scaled = ((a - a.mean(axis=0)) / a.std(axis=0)).T.rechunk((150, 100))
    expected = ((X - X.mean(axis=0)) / X.std(axis=0)).T
    result = scaled.compute()
    assert type(result) is PyGPU.gpuarray.GPUArray
    np.testing.assert_allclose(result.get(), expected)
    processes = client.run(os.getpid)
    assert len({*processes.values(), os.getpid()}) == 3


def test_functions_of_others_make_the_chunks(client):
    """Also where a worker's first task makes the chunk and reduces it."""
    client.register_worker_callbacks(needs.importlib.import_module("PyGPU.dask").register)
    a = da.from_array(X, chunks=(100, 200)).map_blocks(PyGPU.to_gpu)
    np.testing.assert_allclose(a.std(axis=1).compute().get(), X.std(axis=1))
    given = da.from_array(PyGPU.to_gpu(X), chunks=(100, 200))
    np.testing.assert_allclose(given.var(axis=0).compute().get(), X.var(axis=0))


def test_a_killed_worker_is_replaced(client):
    a = array((20, 600)).map_blocks(slowly_doubled)
    future = client.compute(a.sum(axis=0) + a.mean())
    while not any(client.processing().values()):
        time.sleep(0.01)
    time.sleep(0.5)
    assert not future.done()
    before = client.run(os.getpid)
    os.kill(next(iter(before.values())), signal.SIGKILL)
    np.testing.assert_allclose(future.result().get(), (2 * X).sum(axis=0) + (2 * X).mean())
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(before.values())


def test_arrays_are_spilled(client):
    a = (da.ones((64, 1 << 16), chunks=(8, 1 << 16)).to_backend("PyGPU") * 3).persist()  # 32 MB
    distributed.wait(a)
    spilled = client.run(lambda dask_worker: len(dask_worker.data.disk))
    assert sum(spilled.values()) >= 2
    assert a.sum().compute().get() == 3 * 64 * (1 << 16)
