"""Inline PTX: it runs on NVIDIA's GPUs, and elsewhere the error says what it is and where."""

import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray
from PyGPU._compile.source import hints
from PyGPU.compiler import CompileError, SourceModule

LANES = """// asm("mov.u32 %0, %laneid;") in a comment
__device__ unsigned lane()
{
  unsigned number;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(number));
  return number;
}
__global__ void lanes(unsigned *out) { out[threadIdx.x] = lane(); }
"""
FLOATS = """__global__ void f(float *x)
{
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x[0]) : "f"(x[1]));
  asm("{\\n\\t"
      " .reg .pred p;\\n\\t"
      " setp.ne.b32 p, 0, 0;\\n\\t}");
}
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (LANES, [5]),
        (FLOATS, [3, 4]),
        ('__asm__ __volatile__ ("bar.sync 0;");', [1]),
        ('\n\n#define SYNC asm("membar.gl;")', [3]),
        ('asm("add.cc.u32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c)); asm("trap;");', [1]),
        ('asm("mov %0, %%ctaid.x;" : "=r"(a));', [1]),
        ('asm volatile("" ::: "memory"); asm("nop");', []),
        ('asm("movl %1, %0" : "=r"(a) : "r"(b)); asm(".pushsection .text\\n.popsection");', []),
        ('asm("v_add_f32 %0, %1, %2" : "=v"(a) : "v"(b), "v"(c));', []),
        ('printf("asm(\\"bar.sync 0;\\")");', []),
        ("int asm_count = 1;", []),
    ],
)
def test_where_it_is(text, lines):
    assert hints.lines_of_ptx(text) == lines


@pytest.mark.skipif(PyGPU.target != "cuda", reason="PTX is NVIDIA's")
def test_it_runs():
    out = gpuarray.zeros(64, np.uint32)
    SourceModule(LANES).get_function("lanes")(out, block=(64, 1, 1))
    assert out.get().tolist() == [*range(32), *range(32)]


@pytest.mark.skipif(PyGPU.target == "cuda", reason="there it is understood")
@pytest.mark.parametrize(("text", "where"), [(LANES, "line 5 holds"), (FLOATS, "lines 3, 4 hold")])
def test_an_error_says_so(text, where):
    with pytest.raises(CompileError, match=rf"{where} inline PTX \(asm\).*NVIDIA"):
        SourceModule(text)


def test_other_errors_are_not_taken_for_it():
    """A text that has PTX where this compiler does not see it, and another fault."""
    text = f"#ifdef NEVER\n{LANES}\n#endif\n__global__ void f(int *out) {{ *out = unknown; }}"
    with pytest.raises(CompileError, match="unknown") as caught:
        SourceModule(text)
    assert "PTX" not in caught.value.msg


def test_texts_without_it_where_the_compiler_chooses():
    text = f"""
    #if defined(PYGPU_TARGET_HOST) || defined(__HIP__)
    __global__ void lanes(unsigned *out) {{ out[threadIdx.x] = threadIdx.x % 32; }}
    #else
    {LANES}
    #endif"""
    out = gpuarray.zeros(64, np.uint32)
    SourceModule(text).get_function("lanes")(out, block=(64, 1, 1))
    assert out.get().tolist() == [*range(32), *range(32)]
