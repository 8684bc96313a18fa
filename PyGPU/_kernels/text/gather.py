"""Text of the kernels that gather and scatter items, and that look for indices out of range.

Items are opaque: see include/PyGPU/gather_plan.h. One text serves gather, scatter, both at once,
and masked copies.
"""

import math

from PyGPU._kernels.text.common import Element, index_types, unravel

THREADS = 256
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_HEAD = """
typedef unsigned long long P_word;  // sums of it wrap
struct alignas(16) P_word16 { P_word low, high; };
// Two words of the host's memory: what is reported, and then that it is.
__device__ inline void P_report(volatile long long *report, long long value) {
  report[0] = value;
  __threadfence_system();
  report[1] = 1;
}
"""

#: What becomes of an index `v` that is not in [0, n): nothing is copied; the same, and the index is
#: reported; the same of one block, which reports when it is done; the nearest; modulo n.
MODES = {
    "raise": "if (v < 0) v += n; if (v < 0 || v >= n) break;",
    "report": "if (v < -n || v >= n) { *report = v; break; } if (v < 0) v += n;",
    "poll": "if (v < -n || v >= n) { atomicExch(&wrong, (P_word)v); break; } if (v < 0) v += n;",
    "clip": "v = v < 0 ? 0 : v >= n ? n - 1 : v;",
    "wrap": "v %= n; if (v < 0) v += n;",
}


def source(word, ndim, index64, masked, types, counted, mode):
    """The text of a kernel ``gather``.

    Its parameters: the loop; the target's and the source's address; the mask's, if any; for each
    index array what its values mean, and its address; where to report, if so. Structures hold
    64-bit integers alone.

    Parameters
    ----------
    word : int
        Bytes that a thread copies.
    ndim : int
        Axes of the loop.
    index64, masked : bool
    types : sequence of str
        dtypes of the index arrays.
    counted : sequence of int
        Axes that the values of each count through.
    mode : str
        See `MODES`.
    """
    names = ["to", "from", *(["mask"] if masked else [])]
    parameters = ["P_loop loop", "char *to", *(f"const char *{name}" for name in names[1:])]
    structures, offsets, steps = [], [], []
    for k, (dtype, axes) in enumerate(zip(types, counted)):
        parameters += [f"P_index{k} by{k}", f"const char *index{k}"]
        structures.append(
            f"struct P_index{k} {{ long long offset, count, stride[{ndim}], "
            f"length[{axes}], to[{axes}], from[{axes}]; }};\n"
        )
        offsets.append(f"index{k} += at * by{k}.stride[axis];")
        places = f"to += at * by{k}.to[axis], from += at * by{k}.from[axis];"
        value = f"*(const {Element(dtype).stored} *)index{k}"
        steps.append(f"""
  {{
    const long long n = by{k}.count;
    long long v = (long long)((P_word){value} + (P_word)by{k}.offset);
    {MODES[mode]}
    P_index left = (P_index)v;
    {unravel("left", axes, f"by{k}.length", places)}
  }}""")
    if mode in ("report", "poll"):
        parameters.append("volatile long long *report")
    shared = "__shared__ P_word wrong; if (threadIdx.x == 0) wrong = 0; __syncthreads();"
    done = "__syncthreads(); if (threadIdx.x == 0) P_report(report, (long long)wrong);"
    places = " ".join([f"{name} += at * loop.{name}[axis];" for name in names] + offsets)
    fields = "".join(f", {name}[{ndim}]" for name in ["shape", *names])
    return f"""{_HEAD}{index_types(index64)}
struct P_loop {{ long long size{fields}; }};
{"".join(structures)}
extern "C" __global__ void gather({", ".join(parameters)}) {{
  {shared if mode == "poll" else ""}
  P_index i = (P_index)blockIdx.x * (P_index)blockDim.x + (P_index)threadIdx.x;
  if (i < loop.size) do {{
  {unravel("i", ndim, "loop.shape", places)}
  {"if (!*mask) break;" if masked else ""}{"".join(steps)}
  *({_WORDS.get(word, "P_word16")} *)to = *(const {_WORDS.get(word, "P_word16")} *)from;
  }} while (false);
  {done if mode == "poll" else ""}
}}
"""


def check_source(dtype):
    """The text of a kernel ``check``: reports an index that is out of range, which 0 never is."""
    return f"""
extern "C" __global__ void check(const {Element(dtype).stored} *index, long long size,
                                 long long offset, long long count, volatile long long *report) {{
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {{
    const long long v = (long long)((unsigned long long)index[i] + (unsigned long long)offset);
    if (v < -count || v >= count) *report = v;
  }}
}}
"""


MOST_JOINED = 8


def join_source(count):
    """The text of a kernel ``join``: rows of words made of a run of each of `count` arrays, whose
    ends in a row are given."""
    arrays = range(count)
    pointers = ", ".join(f"const P_word16 *from{k}" for k in arrays)
    choices = " else ".join(
        f"if (at < loop.end[{k}]) to[i] = from{k}[row * (loop.end[{k}] - {begin}) + at - {begin}];"
        for k in arrays
        for begin in [f"loop.end[{k - 1}]" if k else "0"]
    )
    return f"""{_HEAD}
struct P_loop {{ unsigned size, end[{count}]; }};
extern "C" __global__ void join(P_loop loop, P_word16 *to, {pointers}) {{
  const unsigned i = blockIdx.x * {THREADS} + threadIdx.x;
  if (i >= loop.size) return;
  const unsigned row = i / loop.end[{count - 1}], at = i - row * loop.end[{count - 1}];
  {choices}
}}
"""


# Blocks are one: few elements. A warp's lanes count by a vote, warps through shared memory.
_SELECT = """
extern "C" __global__ void select_items(const unsigned char *mask, const P_item *from, P_item *to,
                                        long long n, volatile long long *report) {
  __shared__ int totals[THREADS / WARP];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  long long done = 0;
  for (long long first = 0; first < n; first += THREADS) {
    const long long i = first + threadIdx.x;
    const bool is_chosen = i < n && mask[i] != 0;
    const unsigned long long votes = __ballot_sync(LANES, is_chosen);
    if (lane == 0) totals[warp] = __popcll(votes);
    __syncthreads();
    long long at = done + __popcll(votes & ((1ull << lane) - 1ull));
    for (int w = 0; w < THREADS / WARP; ++w) {
      if (w < warp) at += totals[w];
      done += totals[w];
    }
    if (is_chosen) to[at] = from[i];
    __syncthreads();
  }
  if (threadIdx.x == 0) P_report(report, done);
}
"""
_SELECT_BY_ONE = """
extern "C" __global__ void select_items(const unsigned char *mask, const P_item *from, P_item *to,
                                        long long n, volatile long long *report) {
  long long done = 0;
  for (long long i = 0; i < n; ++i)
    if (mask[i]) to[done++] = from[i];
  P_report(report, done);
}
"""


def select_source(itemsize, warp, threads):
    """The text of a kernel ``select_items``: the items where a mask is true, one after the other,
    by one block. `threads` is 1 or a multiple of `warp`."""
    names = f"typedef {_WORDS.get(itemsize, 'P_word16')} P_item;\n"
    if threads == 1:
        return _HEAD + names + _SELECT_BY_ONE
    lanes = f"#define LANES {hex((1 << warp) - 1)}ull\n"
    sizes = f"enum {{ WARP = {warp}, THREADS = {math.ceil(threads / warp) * warp} }};\n"
    return _HEAD + names + lanes + sizes + _SELECT
