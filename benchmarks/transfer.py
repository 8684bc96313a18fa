"""Host to device and back, pageable NumPy memory, beside the peers in the same run.

``raw`` is the runtime's own copy of page-locked memory, the bus itself; ``plain`` its copy of the
pageable memory that the others move.
Run: python benchmarks/transfer.py [--json FILE]
"""

import numpy as np
from timing import median_seconds, peer, report

import PyGPU

SIZES = [4 << 10] + [n << 20 for n in (1, 2, 4, 8, 16, 32, 64, 256, 1024)]


def pinned(nbytes):
    """Page-locked memory as bytes."""
    allocator = PyGPU.PagelockedAllocator_uint8()
    allocator.allocate(nbytes)
    return np.asarray(allocator)


def works(nbytes):
    """{row: {library: callable}} for one size."""
    host = np.random.default_rng(1).integers(0, 255, nbytes, np.uint8)
    out = np.ones_like(host)
    gpu = PyGPU.to_gpu(host)
    locked = pinned(nbytes)
    up = {
        "PyGPU": lambda: PyGPU.to_gpu(host),
        "raw": lambda: PyGPU.cudaMemcpy(gpu, locked, nbytes, PyGPU.cudaMemcpyHostToDevice),
        "plain": lambda: PyGPU.cudaMemcpy(gpu, host, nbytes, PyGPU.cudaMemcpyHostToDevice),
    }
    into = {
        "PyGPU": lambda: gpu.get(out),
        "raw": lambda: PyGPU.cudaMemcpy(locked, gpu, nbytes, PyGPU.cudaMemcpyDeviceToHost),
        "plain": lambda: PyGPU.cudaMemcpy(out, gpu, nbytes, PyGPU.cudaMemcpyDeviceToHost),
    }
    fresh = {"PyGPU": lambda: gpu.get()}
    cupy = peer("cupy")
    if cupy:
        theirs = cupy.asarray(host)
        up["CuPy"] = lambda: cupy.asarray(host)
        into["CuPy"] = lambda: theirs.get(out=out)
        fresh["CuPy"] = lambda: theirs.get()
    torch = peer("torch")
    if torch:
        source, target = torch.from_numpy(host), torch.from_numpy(out)
        tensor = source.cuda()
        up["torch"] = lambda: source.cuda()
        into["torch"] = lambda: target.copy_(tensor)
        fresh["torch"] = lambda: tensor.cpu().numpy()
    return {"to_gpu": up, "get into an array": into, "get fresh": fresh}


def main():
    small, large = {}, {}
    for nbytes in SIZES:
        number = 2000 if nbytes < 1 << 20 else max(3, (256 << 20) // nbytes)
        for row, libraries in works(nbytes).items():
            times = {name: median_seconds(call, number, 5) for name, call in libraries.items()}
            if nbytes < 1 << 20:
                small[f"{row}, {nbytes >> 10} KB"] = {n: t * 1e6 for n, t in times.items()}
            else:
                large[f"{row}, {nbytes >> 20} MB"] = {n: nbytes / t / 1e9 for n, t in times.items()}
    device = PyGPU.cudaDeviceProp(0).name()
    report("Small transfers", "microseconds", small, device)
    report("Large transfers", "GB/s", large, device)


if __name__ == "__main__":
    main()
