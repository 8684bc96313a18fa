"""Source texts of the kernels that gather, scatter and join items, and that check indices.

Items are opaque bytes: see include/PyGPU/arrays/gather_plan.h. The same kernel gathers, scatters,
does both at once, and makes masked copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyGPU._kernels.text.common import VECTOR, Element, index_types, unravel

if TYPE_CHECKING:
    from PyGPU._types import DType

WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
HEAD = """
typedef unsigned long long P_word;  // unsigned, so that sums wrap
struct alignas(16) P_word16 { P_word low, high; };
"""
# An index out of range is never 0, so 0 means that no index is out of range.
CHECKS = """
// State shared by the blocks of a launch: the number of finished blocks, and an index out of range.
// Both are 0 between launches. The verdict, for later launches, is an index out of range or 0.
struct P_checks { P_word blocks, wrong, verdict; };
// Called by one thread of each block, with an index out of range that the block found, or 0. The
// last block reports.
__device__ inline void P_conclude(P_checks *all, P_word wrong, volatile long long *report) {
  if (gridDim.x > 1) {
    if (wrong) {
      atomicExch(&all->wrong, wrong);
      __threadfence();
    }
    if (atomicAdd(&all->blocks, 1ull) + 1 < gridDim.x) return;
    __threadfence();
    wrong = atomicExch(&all->wrong, 0ull);
    all->blocks = 0;
  }
  all->verdict = wrong;
  *report = (long long)wrong;
}
"""

_PREFETCH = """
#ifdef __CUDACC_RTC__
#define P_prefetch(address)
#else
#define P_prefetch(address) __builtin_prefetch(address)
#endif
"""
_NEGATIVE = "if (v < 0) v += n;"
_RAISE = f"bool is_valid = v >= -n && v < n; {_NEGATIVE}"
_BY_BLOCK = f"""bool is_valid = v >= -n && v < n;
      if (!is_valid) atomicExch(&wrong, (P_word)v);
      {_NEGATIVE}"""
#: Treatment of an index `v` that is not in [0, n), by mode.
MODES = {
    # Do not copy the item.
    "raise": _RAISE,
    # Do not copy the item, and report the index. A launch without such an index reports nothing.
    "report": f"bool is_valid = v >= -n && v < n; if (!is_valid) *report = v; {_NEGATIVE}",
    # Do not copy the item. The launch reports the index, or 0, once it has checked all indices.
    "poll": _BY_BLOCK,
    # Like "poll", for a launch of one block, which copies no item if an index is out of range.
    "poll block": _BY_BLOCK,
    # The launch follows a launch of `check`. It copies no item if the check found such an index.
    "checked": _RAISE,
    # Use the nearest index, or the index modulo n.
    "clip": "bool is_valid = true; v = v < 0 ? 0 : v >= n ? n - 1 : v;",
    "wrap": "bool is_valid = true; v %= n; if (v < 0) v += n;",
}


def source(
    word: int,
    ndim: int,
    index64: bool,
    masked: bool,
    types: Sequence[DType],
    counted: Sequence[int],
    mode: str,
    threads: int,
    words: int,
) -> str:
    """Return the text of a kernel ``gather``.

    The kernel has these parameters, whose structures consist of 64-bit integers:

    - the loop
    - the addresses of the target, the source and, with a mask, the mask
    - for each index array, a structure that describes its values, and its address
    - the address of the checks and the address of the report, if the mode needs them

    Parameters
    ----------
    word : int
        Bytes per access.
    ndim : int
        Number of axes of the loop.
    index64, masked : bool
        Use 64-bit indices; copy only where a mask is true.
    types : sequence of str
        Dtypes of the index arrays.
    counted : sequence of int
        For each index array, the number of axes that its values index.
    mode : str
        A key of `MODES`.
    threads : int
        Maximum number of threads per block.
    words : int
        Number of words that a thread copies, a block's width apart. A thread does each step for all
        its words before the next step, so that their loads overlap. If `threads` is 1, the words
        are adjacent.
    """
    names = ["to", "from", *(["mask"] if masked else [])]
    parameters = ["P_loop loop", "char *to_data", "const char *from_data"]
    parameters += ["const char *mask_data"] if masked else []
    structures = []
    for k, axes in enumerate(counted):
        parameters += [f"P_index{k} by{k}", f"const char *index{k}_data"]
        structures.append(
            f"struct P_index{k} {{ long long offset, count, stride[{ndim}], "
            f"length[{axes}], to[{axes}], from[{axes}]; }};\n"
        )
    if mode in ("poll", "checked"):
        parameters.append("P_checks *checks")
    if mode in ("report", "poll", "poll block"):
        parameters.append("volatile long long *report")
    fields = "".join(f", {name}[{ndim}]" for name in ["shape", *names])
    # A single word uses plain variables, which g++ optimizes better than arrays.
    each = words > 1 and threads > 1
    arrays = _Arrays("[k]" if each else "", names, types, counted, mode)
    if threads > 1:
        body = _words(ndim, words, arrays)
    else:
        is_simple = [*counted] == [1] and not masked and _NEGATIVE in MODES[mode]
        simple = _simple(ndim, Element(types[0]).stored) if is_simple else ""
        body = _run(ndim, words, arrays, counted, simple)
    checks = CHECKS if mode in ("poll", "checked") else ""
    return f"""{HEAD}{checks}{_PREFETCH if threads == 1 else ""}{index_types(index64)}
struct P_loop {{ long long size{fields}; }};
{"".join(structures)}
typedef {WORDS.get(word, "P_word16")} P_item;
extern "C" __global__ void __launch_bounds__({threads}) gather({", ".join(parameters)}) {{{body}}}
"""


class _Arrays:
    """C statements for the arrays of a kernel.

    `of_each` is the subscript of a variable that a thread has for each word. It is empty if a
    thread has such variables for one word only.
    """

    def __init__(
        self,
        of_each: str,
        names: list[str],
        types: Sequence[DType],
        counted: Sequence[int],
        mode: str,
    ) -> None:
        self.of_each, self.names, self.mode = of_each, names, mode
        self.indices = range(len(counted))
        self.begins = " ".join(f"const char *index{k} = index{k}_data;" for k in self.indices)
        self.steps = [
            *(
                f"{name}{of_each if name != 'mask' else ''} += at * loop.{name}[axis];"
                for name in names
            ),
            *(f"index{k} += at * by{k}.stride[axis];" for k in self.indices),
        ]
        self.loads = " ".join(
            f"value{k}{of_each} = (long long)((P_word)*(const {Element(dtype).stored} *)index{k}"
            f" + (P_word)by{k}.offset);"
            for k, dtype in enumerate(types)
        )
        self.moves = "".join(self._move(k, axes) for k, axes in enumerate(counted))

    def _move(self, k: int, axes: int) -> str:
        """Return the statements that move the addresses by the value of an index array."""
        steps = " ".join(
            f"{name}{self.of_each} += at * by{k}.{name}[axis];" for name in ("to", "from")
        )
        return f"""
    if (is_copied{self.of_each}) {{
      const long long n = by{k}.count;
      long long v = value{k}{self.of_each};
      {MODES[self.mode]}
      is_copied{self.of_each} = is_valid;
      P_index left = is_valid ? (P_index)v : 0;
      {unravel("left", axes, f"by{k}.length", steps)}
    }}"""


def _words(ndim: int, words: int, arrays: _Arrays) -> str:
    """Return the kernel's body on a GPU: a thread copies `words` words, a block's width apart."""
    of_each, number, distance, count, each = arrays.of_each, "", "", "", ""
    if of_each:
        number, distance, count = "[COUNT]", " + k * (P_index)blockDim.x", " * COUNT"
        each = "#pragma unroll\n  for (int k = 0; k < COUNT; ++k) "
    masked, store, begin, verdict = "mask" in arrays.names, f"is_copied{of_each}", "", ""
    if arrays.mode in ("poll", "poll block"):
        begin = "__shared__ P_word wrong; if (threadIdx.x == 0) wrong = 0; __syncthreads();"
        # The verdict is computed while the loads of the words are in flight.
        verdict = "__syncthreads(); if (threadIdx.x == 0) "
        if arrays.mode == "poll":
            verdict += "P_conclude(checks, wrong, report);"
        else:
            verdict += "*report = (long long)wrong;"
            store += " && !wrong"
    elif arrays.mode == "checked":
        begin = "if (checks->verdict) return;"
    return f"""
  enum {{ COUNT = {words} }};
  {begin}
  const P_index first = (P_index)blockIdx.x * ((P_index)blockDim.x{count}) + (P_index)threadIdx.x;
  bool is_copied{number};
  char *to{number};
  const char *from{number};
  P_item word{number};
  {" ".join(f"long long value{k}{number};" for k in arrays.indices)}
  {each}{{
    P_index i = first{distance};
    is_copied{of_each} = i < loop.size;
    if (!is_copied{of_each}) i = 0;  // element 0 can always be read
    to{of_each} = to_data, from{of_each} = from_data;
    {"const char *mask = mask_data;" if masked else ""} {arrays.begins}
    {unravel("i", ndim, "loop.shape", " ".join(arrays.steps))}
    {f"is_copied{of_each} = is_copied{of_each} && *mask;" if masked else ""}
    {arrays.loads}
  }}
  {each}{{{arrays.moves}
  }}
  {each}if (is_copied{of_each}) word{of_each} = *(const P_item *)from{of_each};
  {verdict}
  {each}if ({store}) *(P_item *)to{of_each} = word{of_each};
"""


def _simple(ndim: int, index: str) -> str:
    """Return a loop for one-word items and one index array that indexes a single axis.

    The loop ends at an index out of range. It is used if the indexed axis has less than FAR bytes:
    then a load takes no longer than the other work of the loop.
    """
    return f"""if (in_item == 1 && by0.count * by0.from[0] < FAR) {{
      const long long n = by0.count, step = by0.stride[{ndim - 1}];
      for (; item < items; ++item) {{
        const P_word value = *(const {index} *)index0;
        long long v = (long long)(value + (P_word)by0.offset);
        if (v < -n || v >= n) break;
        {_NEGATIVE}
        *(P_item *)(row_to + v * by0.to[0]) = *(const P_item *)(row_from + v * by0.from[0]);
        row_to += to_step, row_from += from_step, index0 += step;
      }}
    }}"""


def _run(ndim: int, run: int, arrays: _Arrays, counted: Sequence[int], simple: str) -> str:
    """Return the kernel's body on the host machine, where a block has one thread.

    The thread copies `run` words. If the index arrays and the mask have stride 0 along the last
    axis, the words along this axis are one item.
    """
    last, masked = ndim - 1, "mask" in arrays.names
    has_long_items = [f"by{k}.stride[{last}] == 0" for k in arrays.indices]
    has_long_items += [f"loop.mask[{last}] == 0"] if masked else []
    # Loads from scattered addresses are slow. So several addresses are computed and prefetched
    # before the first load. Scattered stores are not slow.
    scatters = [f"by{k}.from[{axes - 1}] == 0" for k, axes in enumerate(counted)]
    return f"""
  enum {{ AHEAD = 64, FAR = 1 << 23 }};
  P_index next = (P_index)blockIdx.x * {run};
  const P_index end = loop.size - next < {run} ? (P_index)loop.size : next + {run};
  const P_index in_item = {" && ".join(has_long_items) or "true"} ? (P_index)loop.shape[{last}] : 1;
  const long long to_step = loop.to[{last}], from_step = loop.from[{last}];
  const bool is_dense = to_step == sizeof(P_item) && from_step == sizeof(P_item);
  while (next < end) {{
    P_index i = next;
    const P_index in_row = (P_index)loop.shape[{last}] - next % (P_index)loop.shape[{last}];
    const P_index count = end - next < in_row ? end - next : in_row;
    char *row_to = to_data;
    const char *row_from = from_data{", *mask = mask_data" if masked else ""};
    {arrays.begins}
    {{
      char *&to = row_to;
      const char *&from = row_from;
      {unravel("i", ndim, "loop.shape", " ".join(arrays.steps))}
    }}
    const P_index items = in_item == 1 ? count : 1, words = in_item == 1 ? 1 : count;
    const bool is_direct = {" && ".join(["words == 1", *scatters])};
    P_index item = 0;
    {simple}
    for (; item < items; item += AHEAD) {{
      char *to_each[AHEAD];
      const char *from_each[AHEAD];
      const P_index batch = items - item < AHEAD ? items - item : AHEAD;
      for (P_index c = 0; c < batch; ++c) {{
        bool is_copied = {"*mask" if masked else "true"};
        char *to = row_to;
        const char *from = row_from;
        {" ".join(f"long long value{k};" for k in arrays.indices)}
        {arrays.loads}
        {arrays.moves}
        if (is_direct) {{
          if (is_copied) *(P_item *)to = *(const P_item *)from;
        }} else {{
          to_each[c] = to, from_each[c] = is_copied ? from : nullptr;
          P_prefetch(from);
        }}
        row_to += to_step, row_from += from_step;
        {f"mask += loop.mask[{last}];" if masked else ""}
        {" ".join(f"index{k} += by{k}.stride[{last}];" for k in arrays.indices)}
      }}
      for (P_index c = 0; c < batch && !is_direct; ++c) {{
        if (!from_each[c]) continue;
        *(P_item *)to_each[c] = *(const P_item *)from_each[c];
        if (is_dense && words > 1)
          memcpy(to_each[c], from_each[c], words * sizeof(P_item));
        else for (P_index k = 1; k < words; ++k)
          *(P_item *)(to_each[c] + k * to_step) = *(const P_item *)(from_each[c] + k * from_step);
      }}
    }}
    next += count;
  }}
"""


def check_source(dtype: DType, threads: int, count: int, polled: bool) -> str:
    """Return the text of a kernel ``check`` that reports an index out of range.

    A block has `threads` threads, each of which checks `count` indices. If `polled` is True, the
    kernel always reports, and stores the verdict for later launches.
    """
    begin = "__shared__ P_word wrong; if (threadIdx.x == 0) wrong = 0; __syncthreads();"
    end = "__syncthreads(); if (threadIdx.x == 0) P_conclude(checks, wrong, report);"
    found = "atomicExch(&wrong, (P_word)v[k])" if polled else "*report = v[k]"
    return f"""{HEAD}{CHECKS if polled else ""}
extern "C" __global__ void __launch_bounds__({threads})
check(const {Element(dtype).stored} *index, long long size, long long offset, long long count,
      {"P_checks *checks, " if polled else ""}volatile long long *report) {{
  {begin if polled else ""}
  const long long first = (long long)blockIdx.x * {threads * count} + threadIdx.x;
  long long v[{count}];
  #pragma unroll
  for (int k = 0; k < {count}; ++k) {{
    const long long i = first + k * {threads};
    v[k] = (long long)((P_word)index[i < size ? i : 0] + (P_word)offset);
  }}
  #pragma unroll
  for (int k = 0; k < {count}; ++k)
    if (v[k] < -count || v[k] >= count) {found};
  {end if polled else ""}
}}
"""


def join_source(count: int, word: int, in_thread: int) -> str:
    """Return the text of a kernel ``join`` that concatenates rows of `count` arrays.

    A row of the result is a run of words from each array. A word has `word` bytes, and ``loop.end``
    has the end of each run in the row. If `in_thread` is not 0, a run is one word, and a thread
    writes `in_thread` rows with vector accesses.
    """
    item = WORDS.get(word, "P_word16")
    pointers = ", ".join(f"const {item} *from{k}" for k in range(count))
    choices = " else ".join(
        f"if (at < loop.end[{k}]) to[i] = from{k}[row * (loop.end[{k}] - {begin}) + at - {begin}];"
        for k in range(count)
        for begin in [f"loop.end[{k - 1}]" if k else "0"]
    )
    if in_thread:
        return _join_words_source(count, word, in_thread, item, pointers)
    return f"""{HEAD}
struct P_loop {{ unsigned size, end[{count}]; }};
extern "C" __global__ void join(P_loop loop, {item} *to, {pointers}) {{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= loop.size) return;
  const unsigned row = i / loop.end[{count - 1}], at = i - row * loop.end[{count - 1}];
  {choices}
}}
"""


def _join_words_source(count: int, word: int, in_thread: int, item: str, pointers: str) -> str:
    """Return the text of ``join`` for runs of one word, of `in_thread` rows per thread."""
    words = in_thread * count
    is_one = in_thread > 1 and words * word <= 16 and words & (words - 1) == 0
    in_vector = words if is_one else in_thread
    copies = "\n".join(
        f"""    {{
      const P_in in = *(const P_in *)(from{k} + i);
      #pragma unroll
      for (int v = 0; v < {in_thread}; ++v)
        out[(v * {count} + {k}) / {in_vector}].item[(v * {count} + {k}) % {in_vector}] = in.item[v];
    }}"""
        for k in range(count)
    )
    rest = " ".join(f"to[j * {count} + {k}] = from{k}[j];" for k in range(count))
    return f"""{HEAD}{VECTOR}
typedef {item} P_item;
typedef P_vector<P_item, {in_thread}> P_in;
typedef P_vector<P_item, {in_vector}> P_out;
extern "C" __global__ void join(long long rows, P_item *to, {pointers}) {{
  const long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * {in_thread};
  if (i + {in_thread} <= rows) {{
    P_out out[{words // in_vector}];
{copies}
    #pragma unroll
    for (int v = 0; v < {words // in_vector}; ++v) ((P_out *)(to + i * {count}))[v] = out[v];
  }} else {{
    for (long long j = i; j < rows; ++j) {{ {rest} }}
  }}
}}
"""
