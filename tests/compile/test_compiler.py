"""SourceModule: from text to kernels; C names, includes, globals, messages."""

import re
from pathlib import Path

import kernel_sources
import numpy as np
import pytest
from campaign import each_once
from writing_kernels import FIVE, ONE, WRITE, written

import PyGPU.driver as drv
from PyGPU import compiler, gpuarray
from PyGPU._compile.source import hints, wrapping
from PyGPU.compiler import CompileError, SourceModule

# Names and text.


def test_text_gets_c_names():
    module = SourceModule(FIVE)
    assert written(module) == 5
    assert module.module.get_function("write").name == "write"
    assert isinstance(module, compiler.CudaModule)


def test_text_with_c_names_of_its_own():
    source = 'extern "C" { __global__ void write(int *out) { *out = 1; } }\n'
    source += 'extern "C" __global__ void other(int *out) { *out = 2; }'
    module = SourceModule(source, no_extern_c=True)
    assert written(module) == 1 and written(module, "other") == 2
    assert written(SourceModule(source), "other") == 2


def test_anything_that_is_text():
    class Template:
        def __str__(self):
            return FIVE

    assert written(SourceModule(Template())) == 5
    assert written(SourceModule("\n\t" + FIVE + "  // the end")) == 5
    assert written(SourceModule(FIVE.replace(" ", "\r\n"))) == 5
    assert written(SourceModule("// größer, 大きい\n" + FIVE)) == 5


def test_templates_and_namespaces():
    text = kernel_sources.TEMPLATES
    module = SourceModule(text.source, no_extern_c=True, name_expressions=text.expressions)
    out = gpuarray.zeros(4, np.float32)
    for name in ("fill<float, 4>", "fill<float,4>"):
        module.get_function(name)(out, np.float32(2.5), **ONE)
        assert out.get().tolist() == [2.5] * 4
    assert written(module, "outer::inner::three") == 3
    assert written(module, "outer::inner::size<double>") == 8
    for name in ("mangled", "_Z7mangledPii", "unmangled"):
        out = gpuarray.zeros(1, np.int32)
        module.get_function(name)(out, 7, **ONE)  # the kinds of its parameters are known
        assert out.get()[0] == 7
    with pytest.raises(drv.LogicError, match=r"name_expressions=\['fill<int, 4>'\]"):
        module.get_function("fill<int, 4>")
    with pytest.raises(drv.LogicError, match="name_expressions"):
        module.get_function("fill")


def test_templates_inside_c_names():
    """nvcc lets a program include headers with templates, and PyCUDA's own is one."""
    kernel = SourceModule(kernel_sources.COMPLEX.source).get_function("multiply")
    out = gpuarray.zeros(2, np.complex64)
    kernel(out, np.complex64(1j), np.complex128(2), **ONE)
    assert out.get().tolist() == [-1, 2]


# Messages.

BROKEN = {
    1: "nonsense_here x;",
    3: "\n\nnonsense_here x;\n",
    4: "#include <stdint.h>\n#include <math.h>\n\nnonsense_here x;",
    5: "#include <stdint.h>\nint a;\n#include <math.h>\nint b;\nnonsense_here x;\n",
    6: "/* a\n comment */\n#define A \\\n 5\n\nnonsense_here x;",
    7: '#include "own.h"\n\n  #  include <float.h>\n__device__ int f()\n{\n\n nonsense_here x; }',
}


@pytest.mark.parametrize(("line", "no_extern_c"), each_once(BROKEN, [False, True]))
def test_errors_stand_in_the_users_lines(line, no_extern_c, tmp_path):
    (tmp_path / "own.h").write_text("\n\n\n#define OWN\n")
    with pytest.raises(CompileError) as caught:
        SourceModule(BROKEN[line], no_extern_c=no_extern_c, include_dirs=[tmp_path])
    error = caught.value
    first = next(text for text in error.stderr.splitlines() if "error" in text)
    assert re.match(rf"kernel\.cu(\({line}\)|:{line}:)", first), error.stderr
    assert "nonsense_here" in error.stderr and error.stderr in str(error)
    assert "kernel.cu" in error.msg and error.command_line
    assert isinstance(error, drv.Error) and drv.CompileError is CompileError


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("kernel.cu", r"open\(name\)\.read\(\)"),
        (Path("folder", "my kernel.cpp"), r"open\(name\)\.read\(\)"),
        ("kernel.ptx", "module_from_file"),
        ("template <class T> __global__ void f(T *x) {}", "no_extern_c=True"),
        ("__global__ void f(int *x) {}\n__global__ void f(float *x) {}", "no_extern_c=True"),
    ],
    ids=str,
)
def test_what_the_program_may_have_meant(source, hint):
    with pytest.raises(CompileError, match=hint) as caught:
        SourceModule(source)
    assert caught.value.stderr
    with pytest.raises(CompileError) as caught:
        SourceModule("__global__ void f(float *a) { a = ; }")
    advice = ("open(name)", "module_from_file", "TextureObject", "SurfaceObject", "no_extern_c")
    assert not any(words in str(caught.value) for words in advice)


@pytest.mark.parametrize(
    "log",
    [
        "kernel.cu:1:1: error: template with C linkage",
        "kernel.cu:2:17: error: conflicting declaration of C function 'void f(float*)'",
        "kernel.cu:1:1: error: templates must have C++ linkage",
        "kernel.cu:2:17: error: conflicting types for 'f'",
        'kernel.cu(1): error: this declaration may not have extern "C" linkage',
        'kernel.cu(2): error: more than one instance of overloaded function "f" has "C" linkage',
    ],
)
def test_what_compilers_say_of_c_names(log):
    assert "no_extern_c=True" in wrapping.hint(log)
    assert wrapping.hint("kernel.cu:1:1: error: 'y' was not declared in this scope") == ""


def test_a_header_that_pip_has_in_a_wheel_of_its_own():
    """So NVRTC 12.9 says beside the wheel nvidia-cuda-runtime-cu12 alone."""
    log = 'details/info.h(50): catastrophic error: cannot open source file "nv/target"'
    words = ("#include <cooperative_groups.h>", log, True, False, True)
    assert "<nv/target>" in hints.hint(*words, True) and "cccl-cu12" in hints.hint(*words, True)
    assert not hints.hint(*words, False)
    assert not hints.hint("", 'cannot open source file "mine.h"', True, False, True, True)


def test_a_source_that_is_no_text(tmp_path):
    with (tmp_path / "kernel.cu").open("w") as file:
        for bad in (file, None, b"__global__ void f() {}"):
            with pytest.raises(TypeError, match=r"source: expected text.*(read|decode)\(\)"):
                SourceModule(bad)


def test_errors_in_a_header_name_the_header(tmp_path):
    (tmp_path / "own.h").write_text("int good;\nnonsense_here x;\n")
    with pytest.raises(CompileError) as caught:
        SourceModule('#include "own.h"\n' + FIVE, include_dirs=[str(tmp_path)])
    assert re.search(r"own\.h(\(2\)|:2:)", caught.value.stderr)


def test_warnings_are_told():
    source = f'#warning "look here"\n{FIVE}'
    for cache_dir in (None, None):  # from the cache, too
        with pytest.warns(UserWarning, match="look here"):
            module = SourceModule(source, cache_dir=cache_dir)
    assert written(module) == 5


def test_good_text_is_silent(recwarn, capfd):
    assert written(SourceModule(FIVE, cache_dir=False)) == 5
    captured = capfd.readouterr()
    assert not recwarn.list and captured.out == captured.err == ""


# Includes.


def test_headers_of_the_user(tmp_path):
    other = tmp_path / "inner" / "deeper"
    other.mkdir(parents=True)
    (tmp_path / "outer.h").write_text('#pragma once\n#include "inner/middle.h"\n')
    (tmp_path / "inner" / "middle.h").write_text('#include "deeper/last.h"\n#include <outer.h>\n')
    (other / "last.h").write_text("__device__ inline int value() { return 42; }\n")
    source = '#include "outer.h"\n__global__ void write(int *out) { *out = value(); }'
    for settings in ({"include_dirs": [tmp_path]}, {"options": ["-I", str(tmp_path)]}):
        assert written(SourceModule(source, **settings)) == 42
    absolute = source.replace("outer.h", str(tmp_path / "outer.h"))
    assert written(SourceModule(absolute, include_dirs=(str(tmp_path),))) == 42


def test_the_first_folder_wins(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "v.h").write_text(f"#define VALUE {ord(name)}\n")
    folders = [str(tmp_path / name) for name in "ba"]
    source = '#include "v.h"\n' + WRITE
    assert written(SourceModule(source, include_dirs=folders)) == ord("b")
    assert written(SourceModule(source, include_dirs=folders[::-1])) == ord("a")


def test_implicit_declarations():
    kernel = SourceModule(kernel_sources.IMPLICIT.source).get_function("implicit")
    out = gpuarray.zeros(12)
    kernel(out, np.int64(-(2**40)), np.uint32(2**32 - 1), **ONE)
    expected = [np.pi, np.inf, 2**31 - 1, 2**32 - 1, 4, 25, -(2**40), 2**32 - 1, 10, 1, 7, 9.5]
    assert out.get().tolist() == expected


def test_standard_headers():
    found = written(SourceModule(kernel_sources.STANDARD.source), "standard", np.float64, 10)
    epsilon, largest = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).max)
    assert found.tolist() == [5, epsilon, largest, 2**31 - 1, 8, 4, 1, 4, 1, 1]


@pytest.mark.parametrize("header", [h for h in kernel_sources.HEADERS if h.endswith(".h")])
def test_each_header_alone(header):
    assert written(SourceModule(f"#include <{header}>\n{FIVE}")) == 5


# Globals.


def test_globals():
    module = SourceModule(kernel_sources.GLOBALS.source)
    sizes = {"factors": 16, "counter": 4, "table": 48, "setting": 16}
    addresses = {}
    for name, size in sizes.items():
        addresses[name], found = module.get_global(name)
        assert found == size and type(addresses[name]) is int
    assert drv.from_device(addresses["counter"], 1, np.int32)[0] == 5
    drv.memcpy_htod(addresses["factors"], np.array([1, 2, 3, 4], np.float32))
    drv.memcpy_htod(addresses["counter"], np.array([100], np.int32))
    drv.memcpy_htod(addresses["table"], np.arange(6.0).reshape(3, 2))
    setting = np.zeros(1, np.dtype([("first", np.int32), ("second", float)], align=True))
    setting["first"], setting["second"] = 1000, 0.5
    drv.memcpy_htod(addresses["setting"], setting)
    a, b = gpuarray.to_gpu(np.ones(4, np.float32)), gpuarray.zeros(1)
    module.get_function("use")(a, b, block=(4, 1, 1))
    assert a.get().tolist() == [1, 2, 3, 4] and b.get()[0] == 1105.5
    for name in ("nothing", "use", ""):
        with pytest.raises(drv.LogicError, match=f"'{name}' not found"):
            module.get_global(name)
