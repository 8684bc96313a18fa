"""A program that calls PyGPU's functions on the host machine and prints the compiled kernel texts.

The output is a JSON list of [name of the call, text, C names, expressions].
"""

import json
import sys

import numpy as np

import PyGPU.curandom as cr
import PyGPU.gpuarray as ga
from PyGPU import characterize, cumath, fuse
from PyGPU._compile.compilers import build
from PyGPU._runtime import core
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel, get_reduction_kernel_and_types
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel

caught, compile_it = [], build.build


def catch(request, *backend):
    caught.append([request.source, request.extern_c, list(request.expressions)])
    return compile_it(request, *backend)


def vectors():
    return ga.to_gpu(np.ones((4, 64), np.uint64))


a = ga.to_gpu(np.arange(1, 2001, dtype="f4").reshape(40, 50))
b, mask, h = a + a, ga.to_gpu(np.arange(2000).reshape(40, 50) % 3 == 0), a.astype("f2")
z, i, flat = a.astype("c8"), a.astype("i4"), a.ravel()
some = ga.to_gpu(np.array([3, 1, 2], np.int64))


def by_threads(*calls):
    """Make calls whose reductions are planned as for a GPU, not for the host machine."""
    core._override_device_properties({"threads": 256, "multiprocessors": 4, "registers": 65536})
    made = [call() for call in calls]
    core._override_device_properties(None)
    return made


CALLS = {
    "operators": lambda: [a + 2, a * b.T.copy().T, a[::2, 1::3] - 1, i // 7, z * a, h + h, -a],
    "powers and comparisons": lambda: [
        a**2,
        z**2,
        [a**3, h**3, z**3],
        i**3,
        a < b,
        z == z,
        i & 3,
        i << 2,
        divmod(i, 3),
        divmod(a, b),
    ],
    "comparisons of signs": lambda: [
        vectors() < some[0],
        vectors() == some[0],
        vectors() >= some[0],
    ],
    "in place": lambda: [a.__iadd__(1), i.__imul__(3), a.fill(2), a[:, ::2].fill(3)],
    "transposed": lambda: [a.T + b.T, a.T.copy() + a.T, a.astype("f8"), z.real, z.conj(), abs(z)],
    "cumath": lambda: [cumath.exp(a), cumath.sqrt(z), cumath.fmod(a, b), cumath.frexp(a)],
    "divisors and bits": lambda: [np.lcm(i, 6), getattr(np, "bitwise_count", np.invert)(i)],
    "sinc": lambda: [np.sinc(a), np.sinc(h), np.sinc(z), np.sinc(i)],
    "next numbers": lambda: [np.spacing(a), np.spacing(h), np.nextafter(h, 0)],
    "choices": lambda: [
        ga.where(mask, a, b),
        ga.maximum(a, b),
        ga.logical_not(a),
        np.clip(a, 1, 2),
    ],
    "mul_add": lambda: [a.mul_add(2, b, 3)],
    "fused": lambda: [
        fuse(lambda a, h, z: (np.sin(a) + h // 3, abs(z) * h, z / a, np.frexp(h)[1]))(a, h, z),
        fuse(lambda a, s: np.where(a > s, a.astype("f2"), np.power(a, 0.3) % 2))(a[:, ::2], 3),
    ],
    "sums": lambda: [ga.sum(a), ga.sum(h), ga.sum(z), ga.sum(a, axis=0), ga.sum(a, axis=1)],
    "reductions": lambda: [ga.max(i), ga.any(mask), ga.dot(flat, flat), ga.min(a[:, ::2], axis=0)],
    "extremes": lambda: [np.max(a), np.min(h), np.max(a, axis=0), np.min(h, axis=1)],
    "rounds": lambda: [np.round(one, 2) for one in (a, h, z)] + [np.round(i, -1), np.round(h, -1)],
    "sums of numbers": lambda: [np.nansum(a), np.nansum(h), np.nanprod(z, axis=0)],
    "subsets": lambda: [
        ga.subset_sum(some.astype("u4"), flat),
        ga.subset_max(some.astype("u4"), flat),
    ],
    "gather and scatter": lambda: [ga.take(flat, some), a[some], a.__setitem__(some, 1)],
    "masks": lambda: [a[mask], a.__setitem__(mask, 5), a[:, mask[0]]],
    "joining": lambda: [
        ga.concatenate([a, b]),
        ga.stack([a, i], axis=1),
        a.reverse(),
        a[:, ::-1].copy(),
    ],
    "ranges": lambda: [
        ga.arange(100, dtype="f4"),
        ga.arange(5, dtype="i8"),
        ga.linspace(0, 1, 9, dtype="f2"),
        np.ones_like(a),
    ],
    "elementwise": lambda: ElementwiseKernel("float *x, float *y", "y[i] = 2 * x[i]")(a, b),
    "elementwise range": lambda: ElementwiseKernel("float *x", "x[i] = i")(
        flat, slice=slice(0, 9, 2)
    ),
    "reduction": lambda: ReductionKernel("f4", "0", "a + b", "x[i]", "float *x")(flat),
    "stage of a reduction": lambda: get_reduction_kernel_and_types(
        1, "pycuda::complex<float>", 128, "0", "a + b", arguments="pycuda::complex<float> *in"
    ),
    "places": lambda: [
        [np.argmax(a), np.argmin(i, axis=0)],
        *by_threads(lambda: np.argmax(h, axis=1), lambda: np.argmin(a), lambda: np.argmax(i, 0)),
    ],
    "variances": lambda: [
        [np.var(a), np.std(i, axis=0), np.var(z, axis=0)],
        *by_threads(lambda: np.var(h, axis=1), lambda: np.std(a), lambda: np.var(i, 0)),
    ],
    "running sums": lambda: [np.cumsum(a, 0), np.cumprod(h, 1), np.nancumsum(z, axis=0)],
    "inclusive scan": lambda: InclusiveScanKernel("i4", "a + b")(i.ravel()),
    "exclusive scan": lambda: ExclusiveScanKernel("f8", "a + b", 0)(flat.astype("f8")),
    "rand": lambda: [cr.rand(1000), cr.rand(1000, "f8"), cr.rand(1000, "u4")],
    "states": lambda: [cr.XORWOWRandomNumberGenerator().gen_normal(1000, "f4")],
    "sobol": lambda: cr.Sobol64RandomNumberGenerator(vectors()).gen_uniform(100, "f8"),
    "sizes": lambda: characterize.sizeof("pycuda::complex<float>", "#include <pycuda-complex.hpp>"),
}

if __name__ == "__main__":
    build.build = catch
    for what, call in CALLS.items():
        before = len(caught)
        call()
        caught[before:] = [[what, *one] for one in caught[before:]]
    json.dump(caught, sys.stdout)
