"""Operations of dask.array on arrays of any chunks, and those that GPUArrays as chunks refuse.

docs/grow.md counts them. The module needs dask: import it after ``needs.module("dask.array")``.
"""

import dask.array as da
import numpy as np

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(12, 16))
Y = RANDOM.uniform(0.5, 2, size=(12, 16))
WITH_NAN = X.copy()
WITH_NAN[::3, ::5] = np.nan
INTEGERS = RANDOM.integers(0, 20, size=40)
VECTOR = RANDOM.normal(size=40)


class Arrays:
    """Dask arrays of which the operations are made."""

    def __init__(self, backend):
        def array(values, chunks):
            return da.from_array(values, chunks=chunks).to_backend(backend)

        self.x, self.y = array(X, (5, 8)), array(Y, (5, 8))
        self.n, self.c = array(WITH_NAN, (5, 8)), array(X + 1j * Y, (5, 8))
        self.f = array(X.astype(np.float32), (5, 8))
        self.i, self.v = array(INTEGERS, 13), array(VECTOR, 13)


def assigned(array, key, value):
    array = array.copy()
    array[key] = value
    return array


def neighbours(block):
    return block + np.roll(block, 1, axis=0) - np.roll(block, -1, axis=1)


def sum_of_squares(block, axis, keepdims):
    return np.sum(block * block, axis=axis, keepdims=keepdims)


def total(block, axis, keepdims):
    return np.sum(block, axis=axis, keepdims=keepdims)


OPERATIONS = {
    "add": lambda s: s.x + s.y,
    "multiply by a number": lambda s: s.f * 2.5,
    "number minus": lambda s: 2 - s.x,
    "divide": lambda s: s.x / s.y,
    "floor divide": lambda s: s.i // 3,
    "modulo": lambda s: s.i % 7,
    "power": lambda s: s.x**2,
    "abs": lambda s: abs(s.x),
    "sin": lambda s: da.sin(s.x),
    "log1p": lambda s: da.log1p(s.y),
    "maximum": lambda s: da.maximum(s.x, s.y),
    "hypot": lambda s: da.hypot(s.x, s.y),
    "sign": lambda s: da.sign(s.x),
    "isnan": lambda s: da.isnan(s.n),
    "comparison": lambda s: s.x > s.y,
    "equal": lambda s: s.i == 3,
    "and": lambda s: (s.x > 0) & (s.y < 1),
    "invert": lambda s: ~(s.x > 0),
    "shift": lambda s: s.i << 2,
    "clip": lambda s: da.clip(s.x, -0.5, 0.5),
    "where": lambda s: da.where(s.x > 0, s.x, 0),
    "where of arrays": lambda s: da.where(s.x > 0, s.x, s.y),
    "round": lambda s: da.round(s.x, 1),
    "astype": lambda s: s.x.astype("f4"),
    "real": lambda s: s.c.real + s.c.imag,
    "conj": lambda s: da.conj(s.c),
    "nan_to_num": lambda s: da.nan_to_num(s.n),
    "isclose": lambda s: da.isclose(s.x, s.y),
    "sum": lambda s: s.x.sum(),
    "sum by axis": lambda s: s.x.sum(axis=0),
    "sum keepdims": lambda s: s.x.sum(axis=1, keepdims=True),
    "sum of ints": lambda s: s.i.sum(),
    "prod": lambda s: s.y.prod(axis=1),
    "mean": lambda s: s.x.mean(),
    "mean by axis": lambda s: s.x.mean(axis=1),
    "mean keepdims": lambda s: s.x.mean(axis=0, keepdims=True),
    "std": lambda s: s.x.std(),
    "std by axis": lambda s: s.x.std(axis=0, ddof=1),
    "var": lambda s: s.x.var(),
    "var by axis": lambda s: s.f.var(axis=1),
    "min": lambda s: s.x.min(),
    "max by axis": lambda s: s.x.max(axis=1),
    "any": lambda s: (s.x > 2).any(),
    "all by axis": lambda s: (s.x > -1).all(axis=0),
    "argmin": lambda s: s.v.argmin(),
    "argmax by axis": lambda s: s.x.argmax(axis=0),
    "argmax of all": lambda s: s.x.argmax(),
    "argmin of float32": lambda s: s.f.argmin(axis=1),
    "nansum": lambda s: da.nansum(s.n, axis=0),
    "nanmean": lambda s: da.nanmean(s.n, axis=1),
    "nanmax": lambda s: da.nanmax(s.n),
    "nanstd": lambda s: da.nanstd(s.n, axis=0),
    "nanargmax": lambda s: da.nanargmax(s.n, axis=0),
    "count_nonzero": lambda s: da.count_nonzero(s.x > 0),
    "ptp": lambda s: da.ptp(s.x, axis=0),
    "moment": lambda s: s.x.moment(3),
    "median": lambda s: da.median(s.x, axis=0),
    "average": lambda s: da.average(s.x, weights=s.y),
    "cumsum": lambda s: s.x.cumsum(axis=0),
    "cumsum blelloch": lambda s: da.cumsum(s.v, axis=0, method="blelloch"),
    "cumprod": lambda s: s.y.cumprod(axis=1),
    "nancumsum": lambda s: da.nancumsum(s.n, axis=1),
    "topk": lambda s: da.topk(s.v, 5),
    "norm": lambda s: da.linalg.norm(s.x),
    "dot": lambda s: da.dot(s.v, s.v),
    "matmul": lambda s: s.x @ s.y.T,
    "tensordot": lambda s: da.tensordot(s.x, s.y, axes=((1,), (1,))),
    "einsum": lambda s: da.einsum("ij,ij->i", s.x, s.y),
    "outer": lambda s: da.outer(s.v, s.v),
    "trace": lambda s: da.trace(s.x),
    "histogram": lambda s: da.histogram(s.v, bins=10, range=(-3, 3))[0],
    "histogram weights": lambda s: da.histogram(s.v, bins=[-3, -1, 0, 2], weights=s.v)[0],
    "bincount": lambda s: da.bincount(s.i, minlength=20),
    "digitize": lambda s: da.digitize(s.v, np.array([-1, 0, 1.0])),
    "searchsorted": lambda s: da.searchsorted(s.v, s.v),
    "unique": lambda s: da.unique(s.i),
    "isin": lambda s: da.isin(s.i, [1, 5, 9]),
    "diff": lambda s: da.diff(s.x, axis=0),
    "gradient": lambda s: da.gradient(s.x, axis=1),
    "rechunk": lambda s: s.x.rechunk((4, 16)) + 0,
    "reshape -1": lambda s: s.x.reshape(-1),
    "ravel": lambda s: s.x.ravel(),
    "T": lambda s: s.x.T,
    "T ravel": lambda s: s.x.T.ravel(),
    "transpose": lambda s: s.x.transpose(1, 0) + 1,
    "swapaxes": lambda s: da.swapaxes(s.x, 0, 1),
    "moveaxis": lambda s: da.moveaxis(s.x[None], 0, 2),
    "expand squeeze": lambda s: da.squeeze(da.expand_dims(s.x, 1)),
    "broadcast_to": lambda s: da.broadcast_to(s.v, (3, 40)),
    "concatenate": lambda s: da.concatenate([s.x, s.y], axis=1),
    "stack": lambda s: da.stack([s.x, s.y]),
    "vstack": lambda s: da.vstack([s.x, s.y]),
    "hstack": lambda s: da.hstack([s.x, s.y]),
    "block": lambda s: da.block([[s.x, s.y], [s.y, s.x]]),
    "repeat": lambda s: da.repeat(s.x, 2, axis=0),
    "tile": lambda s: da.tile(s.v, 3),
    "roll": lambda s: da.roll(s.x, 3, axis=0),
    "flip": lambda s: da.flip(s.x, 1),
    "rot90": lambda s: da.rot90(s.x),
    "pad": lambda s: da.pad(s.x, 2, mode="constant"),
    "pad reflect": lambda s: da.pad(s.x, 2, mode="reflect"),
    "diag": lambda s: da.diag(s.v),
    "diag of matrix": lambda s: da.diag(s.x.rechunk((12, 16))[:, :12]),
    "triu": lambda s: da.triu(s.x),
    "tril": lambda s: da.tril(s.x, 1),
    "slice": lambda s: s.x[2:9, 3:-1],
    "step": lambda s: s.x[::2, 1::3],
    "negative step": lambda s: s.x[::-1, ::-2],
    "integer": lambda s: s.x[3],
    "newaxis": lambda s: s.x[:, None] + s.x[None],
    "list": lambda s: s.x[[5, 1, 7, 1]],
    "take": lambda s: da.take(s.x, [5, 1, 7], axis=1),
    "mask": lambda s: s.x[s.x > 0],
    "mask 1d of rows": lambda s: s.x[s.x[:, 0] > 0],
    "dask index": lambda s: s.v[s.i[:10]],
    "vindex": lambda s: s.x.vindex[[1, 5, 7], [2, 3, 9]],
    "setitem": lambda s: assigned(s.x, (slice(2, 8), slice(None, None, 3)), 7.0),
    "setitem mask": lambda s: assigned(s.x, s.x < 0, 0.0),
    "setitem array": lambda s: assigned(s.x, slice(2, 4), s.y[:2]),
    "blocks": lambda s: s.x.blocks[1],
    "map_blocks": lambda s: s.x.map_blocks(lambda b: b * 2 + 1),
    "map_overlap": lambda s: s.x.map_overlap(
        lambda b: b + np.roll(b, 1, axis=0) - np.roll(b, -1, axis=1), depth=1, boundary="periodic"
    ),
    "map_overlap reflect": lambda s: s.x.map_overlap(
        lambda b: b + np.roll(b, 1, axis=0), depth=2, boundary="reflect"
    ),
    "map_overlap none": lambda s: s.v.map_overlap(lambda b: b * 2, depth=2, boundary="none"),
    "map_overlap number": lambda s: s.x.map_overlap(
        lambda b: b * 2 + np.roll(b, 1, 1), depth=1, boundary=3.0
    ),
    "coarsen": lambda s: da.coarsen(np.sum, s.x.rechunk((6, 8)), {0: 3, 1: 2}),
    "reduction": lambda s: da.reduction(
        s.x,
        lambda b, axis, keepdims: np.sum(b * b, axis=axis, keepdims=keepdims),
        lambda b, axis, keepdims: np.sum(b, axis=axis, keepdims=keepdims),
        axis=0,
        dtype="f8",
    ),
    "apply_gufunc": lambda s: da.apply_gufunc(
        lambda b: np.mean(b, axis=-1), "(i)->()", s.x.rechunk((5, 16)), output_dtypes="f8"
    ),
    "apply_along_axis": lambda s: da.apply_along_axis(np.sum, 1, s.x),
    "blockwise": lambda s: da.blockwise(np.add, "ij", s.x, "ij", s.y, "ij", dtype="f8"),
    "zeros_like": lambda s: da.zeros_like(s.x) + s.x,
    "full_like": lambda s: da.full_like(s.x, 3) * s.x,
    "ones_like": lambda s: da.ones_like(s.x) * s.x,
    "choose": lambda s: da.choose(s.i % 2, [s.v, -s.v]),
    "compress": lambda s: da.compress([True, False] * 6, s.x, axis=0),
    "nonzero": lambda s: da.nonzero(s.i > 5)[0],
    "argwhere": lambda s: da.argwhere(s.x > 1),
    "cov": lambda s: da.cov(s.x),
    "fft": lambda s: da.fft.fft(s.x.rechunk((5, 16))),
    "percentile": lambda s: da.percentile(s.v, 50),
    "to_backend numpy": lambda s: s.x.to_backend("numpy"),
    "allclose": lambda s: da.allclose(s.x, s.x),
    "isreal": lambda s: da.isreal(s.c),
    "angle": lambda s: da.angle(s.c),
    "ediff1d": lambda s: da.ediff1d(s.v),
    "union1d": lambda s: da.union1d(s.i, s.i + 5),
    "with a NumPy chunk": lambda s: s.x + da.from_array(Y, chunks=(5, 8)),
    "with an ndarray": lambda s: s.x + Y,
    "from ndarray scalar": lambda s: s.x + np.float64(2),
    "argtopk": lambda s: da.argtopk(s.v, 3),
    "select": lambda s: da.select([s.x > 1, s.x > 0], [s.x, s.y], 0.0),
    "divmod": lambda s: da.divmod(s.i, 7)[0],
    "frexp": lambda s: da.frexp(s.x)[0],
    "modf": lambda s: da.modf(s.x)[1],
    "logaddexp": lambda s: da.logaddexp(s.x, s.y),
    "count by len": lambda s: s.x[s.x > 0].sum(),
    "nanmin": lambda s: da.nanmin(s.n, axis=1),
    "nanvar": lambda s: da.nanvar(s.n),
    "nanprod": lambda s: da.nanprod(s.n, axis=0),
    "std keepdims normalise": lambda s: (s.x - s.x.mean(axis=0)) / s.x.std(axis=0),
}

# Operations that raise an error, and the text of the error. GPUArrays are not sorted, and have no
# products of matrices.
_MISSING = (
    "median topk argtopk unique union1d dot matmul tensordot einsum cov digitize isin gradient "
    "diag diag_of_matrix apply_along_axis choose fft isreal"
)
REFUSED = {
    **{name.replace("_of_", " of "): "not implemented for GPUArray" for name in _MISSING.split()},
    **dict.fromkeys(("nonzero", "argwhere"), "not converted to a numpy.ndarray implicitly"),
    **dict.fromkeys(("with a NumPy chunk", "with an ndarray"), "between a GPUArray and a numpy"),
    "percentile": "GPUArray",
}
