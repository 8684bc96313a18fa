"""What small array objects cost, beside the peers in the same run.

Run: python benchmarks/objects.py [--json FILE]
"""

import numpy as np
from timing import median_seconds, peer, report

import PyGPU


def main():
    a = PyGPU.zeros(1024, np.float32)
    other = PyGPU.zeros(1024, np.float32)
    rows = {
        "empty(1024)": {"PyGPU": lambda: PyGPU.empty(1024, np.float32)},
        "a + b": {"PyGPU": lambda: a + other},
        "a += b": {"PyGPU": lambda: a.__iadd__(other)},
        "a[10:500]": {"PyGPU": lambda: a[10:500]},
        "a.reshape(32, 32)": {"PyGPU": lambda: a.reshape(32, 32)},
        "cudaGetDevice()": {"PyGPU": PyGPU.cudaGetDevice},
    }
    cupy = peer("cupy")
    if cupy:
        b = cupy.zeros(1024, np.float32)
        rows["empty(1024)"]["CuPy"] = lambda: cupy.empty(1024, np.float32)
        rows["a + b"]["CuPy"] = lambda: b + b
        rows["a += b"]["CuPy"] = lambda: b.__iadd__(b)
        rows["a[10:500]"]["CuPy"] = lambda: b[10:500]
        rows["a.reshape(32, 32)"]["CuPy"] = lambda: b.reshape(32, 32)
        rows["cudaGetDevice()"]["CuPy"] = cupy.cuda.runtime.getDevice
    torch = peer("torch")
    if torch:
        c = torch.zeros(1024, device="cuda")
        rows["empty(1024)"]["torch"] = lambda: torch.empty(1024, device="cuda")
        rows["a + b"]["torch"] = lambda: c + c
        rows["a += b"]["torch"] = lambda: c.add_(c)
        rows["a[10:500]"]["torch"] = lambda: c[10:500]
        rows["a.reshape(32, 32)"]["torch"] = lambda: c.reshape(32, 32)
        rows["cudaGetDevice()"]["torch"] = torch.cuda.current_device
    times = {
        work: {name: median_seconds(call, 20000) * 1e6 for name, call in row.items()}
        for work, row in rows.items()
    }
    report("Small objects", "microseconds", times, PyGPU.cudaDeviceProp(0).name())


if __name__ == "__main__":
    main()
