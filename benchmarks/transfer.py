"""Host to device and back beside the peers in the same run: pageable, page-locked, strided memory.

``raw`` is the runtime's own copy of page-locked memory, the bus itself; ``plain`` its copy of the
pageable memory that the others move. ``by NumPy`` arranges strided memory in a copy of the whole.
Around the threshold, ``staged`` and ``not staged`` are PyGPU's two ways for any size.
Run: python benchmarks/transfer.py [--most MB] [--json FILE]
"""

import numpy as np
from timing import alone, argument, median_seconds, peer, report

import PyGPU
from PyGPU import driver

SIZES = [n << 20 for n in (1, 2, 4, 8, 16, 32, 64, 256, 1024)]


def raw(gpu, host, up):
    """A call that copies all of a contiguous host array, or fills it."""
    if up:
        return lambda: PyGPU.cudaMemcpy(gpu, host, host.nbytes, PyGPU.cudaMemcpyHostToDevice)
    return lambda: PyGPU.cudaMemcpy(host, gpu, host.nbytes, PyGPU.cudaMemcpyDeviceToHost)


def contiguous(nbytes):
    """{row: {library: callable}} for pageable memory."""
    host = np.random.default_rng(1).integers(0, 255, nbytes, np.uint8)
    out = np.ones_like(host)
    gpu = PyGPU.to_gpu(host)
    locked = driver.pagelocked_empty(nbytes, np.uint8)
    up = {
        "PyGPU": lambda: PyGPU.to_gpu(host),
        "raw": raw(gpu, locked, True),
        "plain": raw(gpu, host, True),
    }
    into = {
        "PyGPU": lambda: gpu.get(out),
        "raw": raw(gpu, locked, False),
        "plain": raw(gpu, out, False),
    }
    fresh = {"PyGPU": lambda: gpu.get()}
    if cupy := peer("cupy"):
        theirs = cupy.asarray(host)
        up["CuPy"] = lambda: cupy.asarray(host)
        into["CuPy"] = lambda: theirs.get(out=out)
        fresh["CuPy"] = lambda: theirs.get()
    if torch := peer("torch"):
        source, target = torch.from_numpy(host), torch.from_numpy(out)
        tensor = source.cuda()
        up["torch"] = lambda: source.cuda()
        into["torch"] = lambda: target.copy_(tensor)
        fresh["torch"] = lambda: tensor.cpu().numpy()
    return {"to_gpu": up, "get into an array": into, "get fresh": fresh}


def pinned(nbytes):
    """The same for page-locked memory, in one piece and in rows of 8 KB with gaps."""
    row = min(8 << 10, nbytes)
    block = driver.pagelocked_empty((nbytes // row, 2 * row), np.uint8)
    whole, rows = block.reshape(-1)[:nbytes], block[:, :row]
    block[...] = 1
    gpu, gpu_rows = PyGPU.to_gpu(whole), PyGPU.to_gpu(rows)
    found = {
        "set, pinned": {"PyGPU": lambda: gpu.set(whole), "raw": raw(gpu, whole, True)},
        "get, pinned": {"PyGPU": lambda: gpu.get(whole), "raw": raw(gpu, whole, False)},
        "set, pinned rows": {"PyGPU": lambda: gpu_rows.set(rows), "raw": raw(gpu, whole, True)},
        "get, pinned rows": {"PyGPU": lambda: gpu_rows.get(rows), "raw": raw(gpu, whole, False)},
    }
    if torch := peer("torch"):
        tensor, theirs = torch.from_numpy(np.asarray(gpu.get())).cuda(), torch.ones(nbytes)
        theirs = theirs.to(torch.uint8).pin_memory()
        found["set, pinned"]["torch"] = lambda: tensor.copy_(theirs)
        found["get, pinned"]["torch"] = lambda: theirs.copy_(tensor)
    return found


def strided(nbytes):
    """The same for pageable memory that has to be gathered or scattered."""
    columns = 1 << 10
    rows = nbytes // (4 * columns)
    layouts = {
        "rows with gaps": np.ones((rows, columns + 8), np.float32)[:, :columns],
        "every other": np.ones((rows, 2 * columns), np.float32)[:, ::2],
        "transposed": np.ones((columns, rows), np.float32).T,
    }
    found = {}
    for name, host in layouts.items():
        gpu = PyGPU.empty((rows, columns), np.float32)

        def up_by_numpy(host=host, gpu=gpu):
            gpu.set(np.ascontiguousarray(host))

        def down_by_numpy(host=host, gpu=gpu):
            np.copyto(host, gpu.get())

        up = {"PyGPU": lambda host=host, gpu=gpu: gpu.set(host), "by NumPy": up_by_numpy}
        down = {"PyGPU": lambda host=host, gpu=gpu: gpu.get(host), "by NumPy": down_by_numpy}
        if cupy := peer("cupy"):
            theirs = cupy.asarray(np.ascontiguousarray(host))
            up["CuPy"] = lambda host=host, theirs=theirs: theirs.set(np.ascontiguousarray(host))
        if torch := peer("torch"):
            other, tensor = torch.from_numpy(host), torch.from_numpy(np.ascontiguousarray(host))
            tensor = tensor.cuda()
            up["torch"] = lambda other=other, tensor=tensor: tensor.copy_(other)
            down["torch"] = lambda other=other, tensor=tensor: other.copy_(tensor)
        found.update({f"set, {name}": up, f"get, {name}": down})
    return found


def around(nbytes, usual):
    """Both ways of PyGPU's, whatever the threshold: where they cross is where it should be."""
    host = np.ones(nbytes, np.uint8)
    spread = np.ones(2 * nbytes, np.uint8)[::2]
    gpu = PyGPU.to_gpu(host)

    def ways(work):
        def by(threshold):
            PyGPU.transfer.configure(threshold=threshold)
            work()

        return {
            "PyGPU": lambda: by(usual),
            "staged": lambda: by(1),
            "not staged": lambda: by(0),
        }

    return {
        "set": ways(lambda: gpu.set(host)),
        "get": ways(lambda: gpu.get(host)),
        "set, every other byte": ways(lambda: gpu.set(spread)),
        "get, every other byte": ways(lambda: gpu.get(spread)),
    }


def rates(works, sizes):
    """GB/s of each library, {row and size: {library: GB/s}}."""
    rows = {}
    for nbytes in sizes:
        for row, libraries in works(nbytes).items():
            number = max(3, (256 << 20) // nbytes)
            rows[f"{row}, {nbytes / (1 << 20):.4g} MB"] = {
                name: nbytes / median_seconds(call, number, 5) / 1e9
                for name, call in libraries.items()
            }
    return rows


def main():
    device = PyGPU.cudaDeviceProp(0).name()
    most = int(argument("--most", 1024)) << 20
    sizes = [nbytes for nbytes in SIZES if nbytes <= most]
    small = {
        f"{row}, 4 KB": {n: median_seconds(call, 2000, 5) * 1e6 for n, call in libraries.items()}
        for works in (contiguous, pinned)
        for row, libraries in works(4 << 10).items()
    }
    report("Small transfers", "microseconds", small, device)
    report("Large transfers", "GB/s", rates(contiguous, sizes), device)
    report("Page-locked memory", "GB/s", rates(pinned, sizes), device)
    report("Strided memory", "GB/s", rates(strided, sizes), device)
    if alone():  # beside a checkout that may have but one way
        return
    with PyGPU.transfer.configure() as now:
        middle = now.threshold or 16 << 20
        sizes = [middle // 4, middle // 2, middle - (1 << 16), middle, 2 * middle]
        report(
            "Around the threshold",
            "GB/s",
            rates(lambda nbytes: around(nbytes, now.threshold), sizes),
            device,
        )


if __name__ == "__main__":
    main()
