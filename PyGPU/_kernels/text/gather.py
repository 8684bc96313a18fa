"""Text of the kernels that gather, scatter and join items, and that look for indices out of range.

Items are opaque: see include/PyGPU/gather_plan.h. One text serves gather, scatter, both at once,
and masked copies.
"""

from PyGPU._kernels.text.common import Element, index_types, unravel

THREADS = 256
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
HEAD = """
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
#: reported; nothing at all is copied, and one block reports when it is done; the nearest; modulo n.
MODES = {
    "raise": "bool is_valid = v >= -n && v < n; if (v < 0) v += n;",
    "report": "bool is_valid = v >= -n && v < n; if (!is_valid) *report = v; if (v < 0) v += n;",
    "poll": "bool is_valid = v >= -n && v < n; if (!is_valid) atomicExch(&wrong, (P_word)v);"
    " if (v < 0) v += n;",
    "clip": "bool is_valid = true; v = v < 0 ? 0 : v >= n ? n - 1 : v;",
    "wrap": "bool is_valid = true; v %= n; if (v < 0) v += n;",
}


def source(word, ndim, index64, masked, types, counted, mode, threads, words):
    """The text of a kernel ``gather``.

    Its parameters: the loop; the target's and the source's address; the mask's, if any; for each
    index array what its values mean, and its address; where to report, if so. Structures hold
    64-bit integers alone.

    Parameters
    ----------
    word : int
        Bytes that are copied at once.
    ndim : int
        Axes of the loop.
    index64, masked : bool
    types : sequence of str
        dtypes of the index arrays.
    counted : sequence of int
        Axes that the values of each count through.
    mode : str
        See `MODES`.
    threads : int
        Of a block, at most.
    words : int
        That a thread copies, a block's width apart: each step is done for all of them before the
        next, so that its loads are under way together.
    """
    # One word has plain variables, which g++ does better with.
    of_each, each, number, place, count = "", "", "", "", ""
    if words > 1:
        of_each, number, place, count = "[k]", "[COUNT]", " + k * (P_index)blockDim.x", " * COUNT"
        each = "#pragma unroll\n  for (int k = 0; k < COUNT; ++k) "
    names = ["to", "from", *(["mask"] if masked else [])]
    parameters = ["P_loop loop", "char *to_data", "const char *from_data"]
    parameters += ["const char *mask_data"] if masked else []
    structures, begins, moves, loads, values, places = [], [], [], [], [], []
    for k, (dtype, axes) in enumerate(zip(types, counted)):
        parameters += [f"P_index{k} by{k}", f"const char *index{k}_data"]
        structures.append(
            f"struct P_index{k} {{ long long offset, count, stride[{ndim}], "
            f"length[{axes}], to[{axes}], from[{axes}]; }};\n"
        )
        begins.append(f"const char *index{k} = index{k}_data;")
        moves.append(f"index{k} += at * by{k}.stride[axis];")
        values.append(f"long long value{k}{number};")
        value = f"(P_word)*(const {Element(dtype).stored} *)index{k}"
        loads.append(f"value{k}{of_each} = (long long)({value} + (P_word)by{k}.offset);")
        steps = " ".join(f"{name}{of_each} += at * by{k}.{name}[axis];" for name in names[:2])
        places.append(f"""
    if (is_copied{of_each}) {{
      const long long n = by{k}.count;
      long long v = value{k}{of_each};
      {MODES[mode]}
      is_copied{of_each} = is_valid;
      P_index left = is_valid ? (P_index)v : 0;
      {unravel("left", axes, f"by{k}.length", steps)}
    }}""")
    if mode in ("report", "poll"):
        parameters.append("volatile long long *report")
    polls = mode == "poll"
    begin = "__shared__ P_word wrong; if (threadIdx.x == 0) wrong = 0; __syncthreads();"
    done = "__syncthreads(); if (threadIdx.x == 0) P_report(report, (long long)wrong);"
    own = " ".join(
        [f"{name}{of_each} += at * loop.{name}[axis];" for name in names[:2]]
        + [f"{name} += at * loop.{name}[axis];" for name in names[2:]]
        + moves
    )
    fields = "".join(f", {name}[{ndim}]" for name in ["shape", *names])
    item = WORDS.get(word, "P_word16")
    store = f"is_copied{of_each}" + (" && !wrong" if polls else "")
    return f"""{HEAD}{index_types(index64)}
struct P_loop {{ long long size{fields}; }};
{"".join(structures)}
extern "C" __global__ void __launch_bounds__({threads}) gather({", ".join(parameters)}) {{
  enum {{ COUNT = {words} }};
  {begin if polls else ""}
  const P_index first = (P_index)blockIdx.x * ((P_index)blockDim.x{count}) + (P_index)threadIdx.x;
  bool is_copied{number};
  char *to{number};
  const char *from{number};
  {item} word{number};
  {" ".join(values)}
  {each}{{
    P_index i = first{place};
    is_copied{of_each} = i < loop.size;
    if (!is_copied{of_each}) i = 0;  // which is there to be read
    to{of_each} = to_data, from{of_each} = from_data;
    {"const char *mask = mask_data;" if masked else ""} {" ".join(begins)}
    {unravel("i", ndim, "loop.shape", own)}
    {f"is_copied{of_each} = is_copied{of_each} && *mask;" if masked else ""}
    {" ".join(loads)}
  }}
  {each}{{{"".join(places)}
  }}
  {each}if (is_copied{of_each}) word{of_each} = *(const {item} *)from{of_each};
  {"__syncthreads();" if polls else ""}
  {each}if ({store}) *({item} *)to{of_each} = word{of_each};
  {done if polls else ""}
}}
"""


def check_source(dtype, threads, count):
    """The text of a kernel ``check``: reports an index that is out of range, which 0 never is. Each
    of the `threads` of a block looks at `count` indices."""
    return f"""
extern "C" __global__ void __launch_bounds__({threads})
check(const {Element(dtype).stored} *index, long long size, long long offset, long long count,
      volatile long long *report) {{
  const long long first = (long long)blockIdx.x * {threads * count} + threadIdx.x;
  long long v[{count}];
  #pragma unroll
  for (int k = 0; k < {count}; ++k) {{
    const long long i = first + k * {threads};
    v[k] = (long long)((unsigned long long)index[i < size ? i : 0] + (unsigned long long)offset);
  }}
  #pragma unroll
  for (int k = 0; k < {count}; ++k)
    if (v[k] < -count || v[k] >= count) *report = v[k];
}}
"""


def join_source(count, word):
    """The text of a kernel ``join``: rows of words (of so many bytes) made of a run of each of
    `count` arrays, whose ends in a row are given."""
    item = WORDS.get(word, "P_word16")
    arrays = range(count)
    pointers = ", ".join(f"const {item} *from{k}" for k in arrays)
    choices = " else ".join(
        f"if (at < loop.end[{k}]) to[i] = from{k}[row * (loop.end[{k}] - {begin}) + at - {begin}];"
        for k in arrays
        for begin in [f"loop.end[{k - 1}]" if k else "0"]
    )
    return f"""{HEAD}
struct P_loop {{ unsigned size, end[{count}]; }};
extern "C" __global__ void join(P_loop loop, {item} *to, {pointers}) {{
  const unsigned i = blockIdx.x * {THREADS} + threadIdx.x;
  if (i >= loop.size) return;
  const unsigned row = i / loop.end[{count - 1}], at = i - row * loop.end[{count - 1}];
  {choices}
}}
"""
