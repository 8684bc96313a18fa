"""Items moved between strided arrays, to or from the places that index arrays and masks name.

One kernel text serves gather, scatter, both at once, and masked copies. Items are opaque: the bytes
of an item are an axis of their own, the innermost, and neighbouring axes are merged, so that a
thread moves the largest word (1 to 16 bytes) that lengths, strides and addresses allow.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from PyGPU._kernels.launcher import Program
from PyGPU._runtime import core, errors, streams

_THREADS = 256
_NARROW = 2**31 - 4096  # below: counted in 32 bits
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_INDEX_TYPES = {
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.int64): "long long",
}

# What becomes of an index `v` that is not in [0, n).
_MODES = {
    "raise": "if (v < 0) v += n; if (v < 0 || v >= n) return;",
    "clip": "v = v < 0 ? 0 : v >= n ? n - 1 : v;",
    "wrap": "v %= n; if (v < 0) v += n;",
}


class Side(NamedTuple):
    """Where items are read or written: an address, and bytes from one to the next."""

    address: int
    strides: "tuple[int, ...]"


class Index(NamedTuple):
    """An index array, and the axes that its values count through (in C order)."""

    array: "core.GPUArray"  # of a dtype in _INDEX_TYPES
    strides: "tuple[int, ...]"  # of the array, for each axis of the loop
    lengths: "tuple[int, ...]"  # of the axes counted through
    steps: "tuple[int, ...]"  # their strides, in bytes
    places_target: bool = False  # else the source
    offset: int = 0  # added to each value


class Form(NamedTuple):
    """What a kernel is made for."""

    word: int
    ndim: int
    wide: bool
    masked: bool
    indices: "tuple[tuple[str, int], ...]"  # C type, axes counted through
    mode: str


def source(form):
    """The text of a kernel ``move``.

    Its parameters: the loop; the target's and the source's address; the mask, if any; for each
    index array what its values mean, and its address. Structures hold 64-bit integers alone.
    """
    word = _WORDS.get(form.word, "P_wide")
    index = "long long" if form.wide else "int"
    names = ["to", "from", *(["mask"] if form.masked else [])]
    parameters = [
        "P_loop loop",
        "char *to",
        "const char *from",
        *(["const char *mask"] * form.masked),
    ]
    structures, offsets, steps = [], [], []
    for k, (c_type, axes) in enumerate(form.indices):
        parameters += [f"P_index{k} by{k}", f"const char *index{k}"]
        structures.append(
            f"struct P_index{k} {{ long long offset, count, stride[{form.ndim}], "
            f"length[{axes}], to[{axes}], from[{axes}]; }};\n"
        )
        offsets.append(f"index{k} += at * by{k}.stride[axis];")
        steps.append(f"""
  {{
    const long long n = by{k}.count;
    long long v = (long long)((P_word)*(const {c_type} *)index{k} + (P_word)by{k}.offset);
    {_MODES[form.mode]}
    {index} left = ({index})v;
    #pragma unroll
    for (int axis = {axes - 1}; axis >= 0; --axis) {{
      const {index} length = ({index})by{k}.length[axis], rest = axis ? left / length : 0;
      const long long at = left - rest * length;
      left = rest;
      to += at * by{k}.to[axis], from += at * by{k}.from[axis];
    }}
  }}""")
    places = " ".join([f"{name} += at * loop.{name}[axis];" for name in names] + offsets)
    fields = "".join(f", {name}[{form.ndim}]" for name in ["shape", *names])
    return f"""
typedef unsigned long long P_word;  // sums of it wrap
struct alignas(16) P_wide {{ P_word low, high; }};
struct P_loop {{ long long size{fields}; }};
{"".join(structures)}
extern "C" __global__ void move({", ".join(parameters)}) {{
  {index} i = ({index})blockIdx.x * {_THREADS} + ({index})threadIdx.x;
  if (i >= loop.size) return;
  #pragma unroll
  for (int axis = {form.ndim - 1}; axis >= 0; --axis) {{
    const {index} length = ({index})loop.shape[axis], rest = axis ? i / length : 0;
    const long long at = i - rest * length;
    i = rest;
    {places}
  }}
  {"if (!*mask) return;" if form.masked else ""}{"".join(steps)}
  *({word} *)to = *(const {word} *)from;
}}
"""


def check_source(c_type):
    """The text of a kernel ``check``: stores any index that is out of range into `wrong`, which 0
    never is."""
    return f"""
extern "C" __global__ void check(const {c_type} *index, long long size, long long offset,
                                 long long count, unsigned long long *wrong) {{
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {{
    const long long v = (long long)((unsigned long long)index[i] + (unsigned long long)offset);
    if (v < -count || v >= count) atomicExch(wrong, (unsigned long long)v);
  }}
}}
"""


@functools.cache
def _mover(form):
    ndim = form.ndim
    structures = [
        1 + ndim * (3 + form.masked),
        *(2 + ndim + 3 * axes for _, axes in form.indices),
    ]
    promise = f"{8 * structures[0]}sPP" + "P" * form.masked
    promise += "".join(f"{8 * size}sP" for size in structures[1:])
    return Program(source(form), move=promise)


@functools.cache
def _checker(c_type):
    return Program(check_source(c_type), check="PqqqP")


def _merged(shape, itemsize, rows):
    """The axes of a loop, those that merge as one, the innermost being a run of bytes.

    Parameters
    ----------
    shape : sequence of int
    rows : list of sequences of int
        Strides; the first two are the target's and the source's.

    Returns
    -------
    list of (length, strides), outermost first.
    """
    run = (1, 1) + (0,) * (len(rows) - 2)
    length, axes = itemsize, []
    for axis in reversed(range(len(shape))):
        strides = tuple(row[axis] for row in rows)
        if shape[axis] == 1:
            continue
        if strides == tuple(stride * length for stride in run):
            length *= shape[axis]
        else:
            axes.append((length, run))
            length, run = shape[axis], strides
    axes.append((length, run))
    return axes[::-1]


def _counting_through_fewer(index):
    """The same Index; axes that lie behind each other like those of a C-ordered array are one."""
    lengths, steps = [], []
    for length, step in zip(index.lengths, index.steps):
        if length == 1:
            continue
        if lengths and steps[-1] == step * length:
            lengths[-1] *= length
            steps[-1] = step
        else:
            lengths.append(length)
            steps.append(step)
    return index._replace(lengths=tuple(lengths or [1]), steps=tuple(steps or [0]))


def _padded(ndim):
    """Of the many numbers of axes beyond four, those that have a kernel."""
    return ndim if ndim <= 4 else next(n for n in (6, 8, 12, 16, 32, 64, 128) if ndim <= n)


def move(
    shape, itemsize, target, source, indices=(), mask=None, mode="raise", stream=None, arrays=()
):
    """Copy items, each to its place.

    Parameters
    ----------
    shape : sequence of int
        Of the loop: each of its points moves one item.
    itemsize : int
        Bytes.
    target, source : Side
        Where the loop alone would move items; index arrays add to that.
    indices : sequence of Index
    mask : Side, optional
        Of bools; where they are false, nothing moves.
    mode : {"raise", "clip", "wrap"}
        What becomes of indices out of range; "raise": their items do not move. See `checked`.
    stream
    arrays : sequence of GPUArray
        Whose memory is used, for the order of the stream.
    """
    size = math.prod(shape)
    if size == 0 or itemsize == 0:
        return
    indices = [_counting_through_fewer(index) for index in indices]
    rows = [target.strides, source.strides, *([mask.strides] if mask else [])]
    own = len(rows)
    axes = _merged(shape, itemsize, rows + [index.strides for index in indices])
    length = axes[-1][0]
    steps = [stride for _, strides in axes[:-1] for stride in strides[:2]]
    steps += [step for index in indices for step in index.steps]
    word = math.gcd(16, length, target.address, source.address, *steps)
    if length == word and len(axes) > 1:
        axes.pop()
    else:
        axes[-1] = (length // word, (word, word, *axes[-1][1][2:]))
    ndim = _padded(len(axes))
    axes = [(1, (0,) * len(axes[0][1]))] * (ndim - len(axes)) + axes
    size = size * itemsize // word
    counts = [math.prod(index.lengths) for index in indices]
    form = Form(
        word,
        ndim,
        max(size, *counts, 0) > _NARROW,
        mask is not None,
        tuple((_INDEX_TYPES[index.array.dtype], len(index.lengths)) for index in indices),
        mode,
    )
    columns = [length for length, _ in axes]
    for row in range(own):
        columns += [strides[row] for _, strides in axes]
    arguments = [np.array([size, *columns], np.int64), target.address, source.address]
    if mask:
        arguments.append(mask.address)
    for k, (index, count) in enumerate(zip(indices, counts)):
        strides = [strides[own + k] for _, strides in axes]
        nothing = [0] * len(index.steps)
        steps = [*index.steps, *nothing] if index.places_target else [*nothing, *index.steps]
        meaning = [index.offset, count, *strides, *index.lengths, *steps]
        arguments += [np.array(meaning, np.int64), index.array]
    grid = (-(-size // _THREADS), 1)
    (launch,) = _mover(form)()
    launch = functools.partial(launch, grid, (_THREADS, 1, 1), stream, *arguments)
    streams.in_order(stream, arrays, launch)


def checked(indices, bounds, axis, mode="raise", stream=None):
    """Index arrays fit for :class:`Index`, on the device.

    Parameters
    ----------
    indices : GPUArray or numpy.ndarray
        Integers of any shape.
    bounds : iterable of (count, offset)
        Valid are indices that make ``-count ... count - 1`` together with the offset.
    axis : int
        For the message.
    mode : {"raise", "clip", "wrap"}
        Only "raise" has anything to check. Of arrays on the device it waits for the answer.

    Raises
    ------
    IndexError
        For indices out of range.
    """
    if mode not in _MODES:
        raise ValueError(f"mode={mode!r}: expected one of {', '.join(map(repr, _MODES))}")
    find = _wrong_on_device
    if isinstance(indices, np.ndarray):
        find = _wrong_on_host
    elif indices.dtype not in _INDEX_TYPES:
        indices = indices.astype(np.int64, stream=stream)
    for count, offset in bounds if indices.size else ():
        if count == 0:
            raise IndexError(f"no index is valid for axis {axis} with size 0")
        wrong = find(indices, count, offset, stream) if mode == "raise" else None
        if wrong is not None:
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {count}")
    if find is _wrong_on_host:
        return core.to_gpu(np.array(indices, np.int64, order="C"))
    return indices


def _wrong_on_host(indices, count, offset, stream):
    low, high = int(indices.min()) + offset, int(indices.max()) + offset
    return high if high >= count else low if low < -count else None


def packed(array, stream):
    """A copy in C order, in the order of the stream."""
    copied = core.empty_like(array, order="C")
    copied.set_async(array, stream=stream)
    return copied


def _wrong_on_device(indices, count, offset, stream):
    if not indices.flags.forc:
        indices = packed(indices, stream)
    wrong = core.zeros(1, np.int64)
    grid = (min(-(-indices.size // _THREADS), 1024), 1)
    (launch,) = _checker(_INDEX_TYPES[indices.dtype])()
    launch(grid, (_THREADS, 1, 1), stream, indices, indices.size, offset, count, wrong)
    if stream is not None:
        errors.check(core.cudaStreamSynchronize(stream), "cudaStreamSynchronize")
    return int(wrong.get()[0]) or None
