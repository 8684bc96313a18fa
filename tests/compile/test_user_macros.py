"""Whatever macros a program defines, in options or before an include, our headers are not broken by
them: their own names are reserved, or they come first."""

from itertools import product
from pathlib import Path
from string import ascii_letters, digits

import kernel_sources
import needs
import numpy as np
import pytest
from everywhere import build

import PyGPU
from PyGPU import gpuarray
from PyGPU._compile.compilers import host_compiler
from PyGPU._compile.source import headers
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

TEXT = """
acc add address alpha angle arr array at base beta begin bins bit bits block blocks buf buffer
by cell cells chan channel channels col cols column columns component condition coords cosine count
counter cur data delta depth diff dim dimension dims direction dist distance dst dt element elements
end entry eps epsilon even expected exponent factor field first flag flags format four from function
gamma grid group half_size halo height held high hist idx image impl in index indices inner
input item items iter jump kernel key kind lane lanes last layer left len length level line local
low lower mask mat matrix mean mode mu name next node norm2 nrow ncol num number nx ny nz object odd
off offset old only other out outer output over pair part pass pitch pixel pixels place plain plane
plus pos position pred prev product ptr quotient radius random range rank rate ratio read reading
real_t rec reference res rest result right root round_up row rows rule sample scale scalar second
seed sequence shape shift shuffle sigma sine slope source span spacing src stage start state status
step steps store stride sum sum0 table taken target temp term text theta threads tid tile tmp to top
total trans truth tx ty type_t unused up upper use val value value_t values vec vector vectors wait
waits warp way weight whole wide width window word words write
BITS BLOCK BLOCK_SIZE BLOCKSIZE BS CHANNELS COLS COUNT DATA DEPTH DIM DIMS DTYPE FACTOR FILTER FLOAT
GRID HEIGHT INDEX INPUT KERNEL LANES LENGTH LEVEL LOCAL MASK MODE NDIM NUM NUMBER NX NY NZ OFFSET
OUTPUT PART PITCH RADIUS RANGE REAL ROUND ROW ROWS SCALE SEED SHIFT SIZE STEP STRIDE SUM SWAP
THREADS TILE TILE_DIM TYPE UNROLL VALUE WARP WIDTH WORD
Base Complex Double First Float Fraction Group Index Number Other Parent Real Result Second Size
State Type Value Vector Word
"""
WORDS = TEXT.split()
SHORT = {"".join(two) for two in product(ascii_letters, ascii_letters + digits)}
NAMES = sorted({*ascii_letters, *SHORT, *WORDS} - {"if", "do", "or", *"xyzw"})
# What others' headers have in the same way: the standard library's names; the members of cuRAND's
# structures; the functors of cooperative groups.
OTHERS = {"array", "begin", "data", "end", "epsilon", "first", "pair", "reference", "second"}
OTHERS |= {"value", *"cdviVK", "s1", "s2", "M2", "key", "length", "mean", "output", "shift", "plus"}

WHERE = {
    "nvrtc": ("cuda", "sm_75", ["device", "rtc"]),
    "hiprtc": ("hip", "gfx908", ["device", "rtc_hip", "rtc"]),
    "host": ("host", None, ["device", "host/cuda"]),
}
# What no text includes by itself: it goes before any text, or is a part of another one.
INNER = ("prelude", "random/", "toolkit/", "pycuda-complex-", "texel_types")
INNER += ("group_folds", "simd_integers")
# Headers of the compiler's own installation are its own affair.
VENDORS = ("cuda", "cooperative", "curand", "cu", "vector", "device_", "math_")


def names_of_headers(folder):
    root = Path(headers.folder(folder))
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    names = (path.relative_to(root).as_posix() for path in files)
    return [name for name in names if not name.startswith(INNER)]


USE = """
extern __shared__ float P_outside[];
extern "C" __global__ void P_kernel(float *P_floats, double *P_doubles)
{
  extern __shared__ float P_inside[];
  P_inside[threadIdx.x] = P_floats[blockIdx.x * blockDim.x + threadIdx.x + gridDim.y];
  __syncthreads();
  P_doubles[threadIdx.x] = P_outside[threadIdx.x] + M_PI + INT_MAX + INFINITY;
  assert(P_floats);
}
"""


def compile_text(compiler, text, options=()):
    backend, arch, _ = WHERE[compiler]
    if compiler != "host":
        needs.compiler(compiler)
    return build(kernel_sources.Text(text, extern_c=False), backend, arch, options=options)


@pytest.mark.no_device
@pytest.mark.parametrize("compiler", WHERE)
def test_macros_of_options(compiler):
    """They are all there for the text, and none of the headers before it knows them."""
    text = (
        f"#if !({' && '.join(f'defined({one})' for one in NAMES)})\n#error one is missing\n#endif"
    )
    compile_text(compiler, text + USE, [f"-D{one}=@" for one in NAMES])


# Which say that the host machine has none.
LACKED = {"cuda_fp8.h", "mma.h"} | {
    f"cooperative_groups/{name}.h" for name in ("scan", "memcpy_async")
}


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("compiler", "folder"), [(one, folder) for one in WHERE for folder in WHERE[one][2]]
)
def test_macros_before_includes(compiler, folder):
    names = NAMES if folder == "device" else sorted({*NAMES} - OTHERS)
    known = names_of_headers(folder)
    if compiler == "nvrtc":
        known = [name for name in known if not name.startswith(VENDORS)]
    elif folder == "rtc":
        known = [name for name in known if not name.startswith("cuda/")]  # libcu++'s
    known = [name for name in known if name not in LACKED]
    assert len(known) > 3
    defined = "".join(f"#define {one} @\n" for one in names)
    included = "".join(f"#include <{name}>\n" for name in known)
    compile_text(compiler, defined + included + USE)


# Kernels by expression, whose texts have the user's options and preamble.
MACROS = ["-DT=float", "-DN=100", "-DA=1", "-DSIZE=4", "-Dvalue=3", "-Dtotal=2", "-Din=9", "-Dx0=@"]
PREAMBLE = "\n#define first 7\n#define start 5\n#define chunk 6\n#define element @\n"


def test_kernels_by_expression():
    a = gpuarray.arange(100, dtype=np.int32)
    settings = {"options": MACROS, "preamble": PREAMBLE}
    ElementwiseKernel("int *a", "a[i] += N + A + first - SIZE - value", **settings)(a)
    assert a.get().tolist() == list(range(101, 201))
    total = ReductionKernel(
        np.int32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="A * a[i]",
        arguments="int *a",
        **settings,
    )
    assert total(a).get() == sum(range(101, 201))
    scan = InclusiveScanKernel(np.int32, "a + b + A", preamble=PREAMBLE, options=MACROS)
    expected = np.cumsum(np.arange(101, 201) + 1) - 1
    assert scan(a).get().tolist() == expected.tolist()


def test_a_kernel_with_macros_of_its_own():
    """Among them those that headers of ours had for names once, and one with parameters."""
    module = SourceModule(
        "__global__ void f(T *out) { out[threadIdx.x] = SQUARE(value) + row + N; }",
        options=[
            "-DT=float",
            "-DSQUARE(x)=((x)*(x))",
            "-Dvalue=3",
            "-Drow=2",
            "-DN",
            "-UN",
            "-DN=0.5",
        ],
    )
    out = gpuarray.zeros(4, np.float32)
    module.get_function("f")(out, block=(4, 1, 1))
    assert out.get().tolist() == [11.5] * 4


@pytest.mark.parametrize(("options", "evaluated"), [([], 1), (["-DNDEBUG"], 0)])
def test_asserts_can_be_left_out(options, evaluated):
    """By a macro that headers ask for, before any text."""
    module = SourceModule(
        "__global__ void f(int *a) { int n = 0; assert(n = a[1]); a[0] = n; }", options=options
    )
    a = gpuarray.to_gpu(np.array([7, 1], np.int32))
    module.get_function("f")(a, block=(1, 1, 1))
    assert a.get()[0] == evaluated


def test_precompiled_headers(tmp_path, monkeypatch):
    """The host's compiler has one for all macros of programs, and another one without assert."""
    if PyGPU.target != "host":
        pytest.skip("a header of the host's compiler")
    commands, said = [], []
    run = host_compiler.run

    def watched(command, name):
        done = run([*command, "-Winvalid-pch"], name)
        commands.append(command)
        said.append(done.stderr)
        return done

    monkeypatch.setattr(host_compiler, "run", watched)
    for options in ([], ["-DN=100", "-Dfactor=@", "-D__USERS=3"], ["-DNDEBUG"]):
        text = "__global__ void f(int *a) { a[0] = 7; }"
        module = SourceModule(text, options=options, cache_dir=str(tmp_path))
        a = gpuarray.zeros(1, np.int32)
        module.get_function("f")(a, block=(1, 1, 1))
        assert a.get()[0] == 7
        made = [command for command in commands if "c++-header" in command]
        is_another = "-DNDEBUG" in options
        assert len(made) == len(list(tmp_path.rglob("*.gch"))) == 1 + is_another
    assert not any("not used" in text for text in said)


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    """A cache of its own, with the header for all kernels."""
    if PyGPU.target != "host":
        pytest.skip("about the host's compiler")
    folder = str(tmp_path_factory.mktemp("cache"))
    SourceModule("__global__ void first() {}", cache_dir=folder)
    return folder


@pytest.mark.parametrize(
    ("head", "words", "runs"),
    [
        ("__global__ void f(float *a)", ["-DN=4", "-DSQUARE(x)=((x) * (x))", "-UM"], 1),
        ("__global__ void f(T *a)", ["-DN=4", "-DT=float"], 2),  # a parameter's type
        ("__global__ void g(float *a)", ["-DN=4", "-Dg=f"], 2),  # a kernel's name
        ("KERNEL f(float *a)", ["-DN=4", "-DKERNEL=__global__ void"], 2),
    ],
)
def test_most_macros_cost_no_second_run_of_the_compiler(head, words, runs, cached, monkeypatch):
    commands = []
    run = host_compiler.run
    monkeypatch.setattr(
        host_compiler, "run", lambda command, name: commands.append(command) or run(command, name)
    )
    module = SourceModule(f"{head} {{ a[0] = N; }}", options=words, cache_dir=cached)
    a = gpuarray.zeros(1, np.float32)
    module.get_function("f")(a, block=(1, 1, 1))
    assert a.get()[0] == 4 and len(commands) == runs
