"""Users' sources built and loaded: PyGPU.load, PyGPU.build, and the cache of libraries."""

import inspect
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import needs
import numpy as np
import pytest
from campaign import rare_but

import PyGPU
import PyGPU.driver as drv
from PyGPU import errors, gpuarray, library

SOURCE = """
#include "more.h"
#include <PyGPU/export.h>
#include <stdexcept>

template <class T>
__global__ void __launch_bounds__(256) axpy(T a, const T *x, T *y, long n) {
  extern __shared__ char pad[];
  const long i = blockIdx.x * long(blockDim.x) + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
#define ADD_ONE(...) add_one<<<dim3(4), 64, 0, stream>>>(__VA_ARGS__)

namespace solver {
template <class T>
int axpy_plus_one(T a, const T *x, T *y, long n, cudaStream_t stream) {
  axpy<<<(n + 255) / 256, 256, 16, stream>>>(a, x, y, n);
  axpy<T><<<1, 256>>>(a, x, y, 0);
  ADD_ONE(y, n);
  return cudaGetLastError();
}
}  // namespace solver
PYGPU_EXPORT_AS(axpy_f64, solver::axpy_plus_one<double>);
PYGPU_EXPORT_AS(axpy_f32, solver::axpy_plus_one<float>);

cudaError_t refused() {
  axpy<double><<<1, 100000>>>(1.0, nullptr, nullptr, 0);
  return cudaGetLastError();
}
PYGPU_EXPORT(refused);
void leaves_an_error() { (void)refused(); cudaSetDevice(1000); }
PYGPU_EXPORT(leaves_an_error);
void throws() { throw std::runtime_error("no convergence"); }
PYGPU_EXPORT(throws);
extern "C" int plain(double *a, long n) {
  add_one<<<4, 64>>>(a, n);
  return 0;
}
"""
HEADER = """
template <class T>
__global__ void add_one(T *y, long n) {
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] += 1;
}
"""


@pytest.fixture(scope="module")
def compiler():
    return needs.compiler_of_files()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("a user's sources")
    (place / "mine.cu").write_text(SOURCE)
    (place / "more.h").write_text(HEADER)
    return place


@pytest.fixture(scope="module")
def mine(folder, compiler):
    return PyGPU.load(
        folder / "mine.cu", "int plain(double *a, long n);", cache_dir=folder / "cache"
    )


def test_functions_of_a_source(mine):
    n = 1000
    for name, dtype in (("axpy_f64", "f8"), ("axpy_f32", "f4")):
        x, y = gpuarray.to_gpu(np.arange(n, dtype=dtype)), gpuarray.zeros(n, dtype)
        assert getattr(mine, name)(2.0, x, y, n) == 0
        assert (y.get() == 2 * np.arange(n) + 1).all()
        assert getattr(mine, name)(2.0, x, y, n, stream=drv.Stream()) == 0
        assert (y.get() == 4 * np.arange(n) + 2).all()
    assert mine.plain(y.astype("f8"), 0) == 0
    assert {"axpy_f64", "refused", "plain"} <= {*dir(mine)}
    assert repr(mine).startswith("<PyGPU.Library mine.cu: axpy_f64")


def test_what_a_function_says_of_itself(mine):
    f = mine.axpy_f64
    assert f.__name__ == "axpy_f64"
    assert f.signature == "int axpy_f64(double, const double*, double*, int64_t, stream)"
    assert mine.plain.signature == "int plain(double *a, long n)"
    assert mine.plain.address
    assert inspect.getdoc(f).startswith(f.signature + "\n\n")
    assert inspect.getdoc(PyGPU.LibraryFunction).startswith("A function of a compiled library")
    assert isinstance(f, PyGPU.LibraryFunction)
    assert isinstance(mine, PyGPU.Library)


def test_errors_of_functions(mine):
    with pytest.raises(errors.Error, match="refused"):
        mine.refused()
    with pytest.raises(errors.Error, match="leaves_an_error"):
        mine.leaves_an_error()
    with pytest.raises(RuntimeError, match=r"throws\(\): no convergence"):
        mine.throws()
    assert PyGPU.cudaGetLastError() == 0
    assert mine.plain(gpuarray.zeros(4, "f8"), 4) == 0


def test_an_integer_may_be_an_error(folder, compiler, tmp_path):
    source = tmp_path / "status.cpp"
    source.write_text('extern "C" int status(int code) { return code; }')
    one = PyGPU.load(source, "int status(int code);", errors=True, cache_dir=folder / "cache")
    assert one.status(0) is None
    with pytest.raises(errors.LogicError, match="status"):
        one.status(1)


def test_a_missing_function_lists_near_ones(mine):
    with pytest.raises(AttributeError, match="axpy_f64"):
        getattr(mine, "axpy_f46")  # noqa: B009
    with pytest.raises(AttributeError, match="no function"):
        getattr(mine, "nothing")  # noqa: B009
    assert not hasattr(mine, "__array__")


def test_a_declared_function_that_is_missing(folder, compiler):
    with pytest.raises(AttributeError, match=r"no function plane\(\).*it has plain"):
        PyGPU.load(folder / "mine.cu", "int plane(double *a);", cache_dir=folder / "cache")


def test_a_function_without_types(folder, compiler):
    one = PyGPU.load(folder / "mine.cu", cache_dir=folder / "cache")
    with pytest.raises(AttributeError, match="PYGPU_EXPORT"):
        getattr(one, "plain")  # noqa: B009


def test_a_function_may_have_any_name(compiler, tmp_path):
    names = ["path", "fill", "_label", "_fill", "_functions", "_near", "handle", "lambda", "self"]
    texts = [
        f"int {name}() {{ return {i}; }} PYGPU_EXPORT({name});" for i, name in enumerate(names)
    ]
    source = tmp_path / "names.cu"
    source.write_text("#include <PyGPU/export.h>\nint near() { return 0; }\n" + "\n".join(texts))
    library = PyGPU.load(source, cache_dir=tmp_path)
    for i, name in enumerate(names):
        assert getattr(library, name)() == library[name]() == i
    with pytest.raises(AttributeError, match=r"has no function pth.*path") as info:
        library["pth"]
    assert str(source) in str(info.value) or "names.cu" in str(info.value)
    with pytest.raises(TypeError, match="iterable"):
        iter(library)


def test_cpp_names_by_declarations(folder, compiler, tmp_path):
    source = tmp_path / "names.cpp"
    source.write_text(
        "namespace q { int twice(int x) { return 2 * x; } }\n"
        "double twice(const double *x, long n) { return 0; }\n"
        "double half(double x) { return x / 2; } int half(int x) { return -x; }\n"
    )
    declared = "int q::twice(int x); double half(double x);"
    one = PyGPU.load(source, declared, cache_dir=folder / "cache")
    assert one.twice(21) == 42
    assert one.half(5.0) == 2.5


def test_a_library_is_built_once(folder, compiler, tmp_path):
    source = tmp_path / "once.cpp"
    source.write_text('#include "value.h"\nextern "C" int value() { return VALUE; }')
    (tmp_path / "value.h").write_text("#define VALUE 1")

    def value():
        return PyGPU.load(source, "int value();", cache_dir=tmp_path / "cache")

    first = value()
    assert (first.value(), value().path) == (1, first.path)
    made = first.path.stat().st_mtime_ns
    assert value().path.stat().st_mtime_ns == made
    (tmp_path / "value.h").write_text("#define VALUE 2")
    assert value().value() == 2
    (tmp_path / "value.h").write_text("#define VALUE 1")
    assert value().path == first.path
    first.path.unlink()  # the library's entry alone is none
    assert value().value() == 1


def test_two_processes_build_once(folder, compiler, tmp_path):
    source = tmp_path / "both.cpp"
    source.write_text('extern "C" int one() { return 1; }')
    code = (
        "import sys, PyGPU; lib = PyGPU.load(sys.argv[1], 'int one();', cache_dir=sys.argv[2]); "
        "print(lib.one(), lib.path.stat().st_ino)"
    )
    words = [sys.executable, "-c", code, str(source), str(tmp_path / "cache")]
    environment = {**os.environ, "PYGPU_TARGET": PyGPU.target}
    running = [
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    answers = {one.communicate(timeout=120)[0] for one in running}
    assert len(answers) == 1
    assert answers.pop().startswith("1 ")


def test_threads_build_once(folder, compiler, tmp_path):
    source = tmp_path / "threads.cpp"
    source.write_text('extern "C" int one() { return 1; }')
    found = []

    def work():
        found.append(PyGPU.load(source, "int one();", cache_dir=tmp_path / "cache").one())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 4


@pytest.mark.parametrize("cache_dir", [False, "a folder that others can write"])
def test_without_a_cache(cache_dir, compiler, tmp_path):
    source = tmp_path / "aside.cpp"
    source.write_text('extern "C" int one() { return 1; }')
    if cache_dir:
        cache_dir = tmp_path / cache_dir
        cache_dir.mkdir()
        cache_dir.chmod(0o777)
        with pytest.warns(UserWarning, match="is not used"):
            one = PyGPU.load(source, "int one();", cache_dir=cache_dir)
    else:
        one = PyGPU.load(source, "int one();", cache_dir=False)
    assert one.one() == 1
    assert not one.path.exists()
    assert one.one() == 1


def test_several_sources_and_include_folders(compiler, tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "shared.h").write_text("int other();")
    (tmp_path / "a.cpp").write_text(
        '#include <shared.h>\nextern "C" int sum() { return other() + N; }'
    )
    (tmp_path / "b.cpp").write_text("#include <shared.h>\nint other() { return 40; }")
    one = PyGPU.load(
        [tmp_path / "a.cpp", tmp_path / "b.cpp"],
        "int sum();",
        include_dirs=[tmp_path / "include"],
        options=["-DN=2"],
        cache_dir=tmp_path / "cache",
    )
    assert one.sum() == 42


@pytest.mark.parametrize("options", rare_but([["-std=c++17"]], [[], ["-std=c++17"]]))
def test_a_source_of_c_beside_others(options, compiler, tmp_path):
    # `new` is a name in C, and the array's length is no constant.
    (tmp_path / "plain.c").write_text("int add(int new, int n) { int a[n]; return new + n; }")
    (tmp_path / "one.cu").write_text(
        'extern "C" int add(int, int); int both() { return add(1, 2); }'
    )
    sources = [tmp_path / "plain.c", tmp_path / "one.cu"]
    library = PyGPU.load(
        sources,
        "int add(int, int); int both();",
        options=options,
        cache_dir=tmp_path / "cache",
    )
    assert (library.add(40, 2), library.both()) == (42, 3)


@pytest.mark.skipif(PyGPU.target == "hip", reason="hipcc has no header of this name")
def test_vectors_in_c_are_those_of_device_code(compiler, tmp_path):
    names = [
        f"{name}{n}"
        for name in ("char", "ushort", "int", "uint", "long", "ulonglong", "float", "double")
        for n in (1, 2, 3, 4)
    ]
    layouts = ", ".join(f"sizeof({one}), _Alignof({one})" for one in names)
    text = "struct __align__(16) Padded {{ int x; }};\nlong {0}[] = {{{1}, sizeof(struct Padded)}};"
    (tmp_path / "in_c.c").write_text("#include <vector_types.h>\n" + text.format("in_c", layouts))
    (tmp_path / "in_cpp.cu").write_text(
        text.format("in_cpp", layouts.replace("_Alignof", "alignof"))
        + """
        extern "C" long in_c[];
        extern "C" int differing() {
          int count = 0, n = sizeof in_cpp / sizeof *in_cpp;
          for (int i = 0; i < n; ++i) count += in_c[i] != in_cpp[i];
          return count;
        }
        """
    )
    sources = [tmp_path / "in_c.c", tmp_path / "in_cpp.cu"]
    assert PyGPU.load(sources, "int differing();", cache_dir=tmp_path).differing() == 0


def test_build_writes_where_it_is_told(folder, compiler, tmp_path):
    source = tmp_path / "out.cpp"
    source.write_text('extern "C" int one() { return 1; }')
    made = PyGPU.build(source, out=tmp_path / "other.so", cache_dir=tmp_path / "cache")
    assert made == tmp_path / "other.so"
    assert made.stat().st_mode & stat.S_IXUSR
    assert PyGPU.load(made, "int one();").one() == 1
    assert PyGPU.build(source, out=tmp_path, cache_dir=False) == tmp_path / "out.so"
    assert [*tmp_path.glob(".*")] == []


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("int f( {", "error"),
        ('#include "nowhere.h"', "nowhere.h"),
        ("int g(); int f() { return g(); }", "undefined|unresolved"),
        (
            "#include <string>\n#include <PyGPU/export.h>\nint f(std::string s) { return 0; }\n"
            "PYGPU_EXPORT(f);",
            "not trivially copyable",
        ),
        (
            "#include <PyGPU/export.h>\nint f(int &x) { return x; }\nPYGPU_EXPORT(f);",
            "reference",
        ),
    ],
)
def test_sources_that_do_not_build(text, match, compiler, tmp_path):
    source = tmp_path / "wrong.cpp"
    source.write_text(text)
    with pytest.raises(errors.CompileError) as caught:
        PyGPU.build(source, cache_dir=tmp_path / "cache")
    assert match in str(caught.value) or any(one in str(caught.value) for one in match.split("|"))
    assert [*(tmp_path / "cache").rglob("*.so")] == []


def test_messages_name_the_program_s_lines(compiler, tmp_path):
    source = tmp_path / "lines.cu"
    source.write_text("__global__ void f() {}\n\nvoid g() { f<<<1, 1>>>(); }\nint x = nothing;\n")
    with pytest.raises(errors.CompileError, match=r"lines\.cu[:(]4"):
        PyGPU.build(source, cache_dir=tmp_path / "cache")


def test_wrong_arguments(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"source.*nothing\.cu"):
        PyGPU.load(tmp_path / "nothing.cu")
    with pytest.raises(FileNotFoundError, match=r"source.*nothing\.so"):
        PyGPU.load(tmp_path / "nothing.so")
    with pytest.raises(ValueError, match=r"source.*\.txt"):
        PyGPU.load(tmp_path / "nothing.txt")
    with pytest.raises(ValueError, match="source"):
        PyGPU.load([])
    with pytest.raises(TypeError, match="options"):
        PyGPU.load(folder / "mine.cu", options="-O3")
    with pytest.raises(TypeError, match="include_dirs"):
        PyGPU.load(folder / "mine.cu", include_dirs="include")
    with pytest.raises(ValueError, match="target='gpu'"):
        PyGPU.build(folder / "mine.cu", target="gpu")
    with pytest.raises(ValueError, match="declarations"):
        PyGPU.load(folder / "mine.cu", "int f(std::vector<int> x);")


@pytest.mark.skipif(PyGPU.target == "host", reason="the host machine has no architectures")
def test_an_architecture_of_another_target(folder):
    other = "gfx90a" if PyGPU.target == "cuda" else "sm_90"
    with pytest.raises(ValueError, match=f"arch='{other}'"):
        PyGPU.build(folder / "mine.cu", arch=other)


def test_a_library_on_a_file_system_mounted_with_noexec(tmp_path, monkeypatch):
    """The loader's own message does not name the cause."""
    from PyGPU._library import library

    monkeypatch.setattr(library.os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_NOEXEC))
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(OSError, match=r"mounted with noexec; set PYGPU_CACHE_DIR"):
        PyGPU.load(tmp_path / "text.so")


def test_no_library(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(OSError, match=r"text\.so cannot be loaded"):
        PyGPU.load(tmp_path / "text.so")


def test_a_missing_compiler(folder, monkeypatch):
    variable = {"cuda": "CUDA_HOME", "hip": "ROCM_PATH", "host": "PYGPU_HOST_CXX"}[PyGPU.target]
    monkeypatch.setenv(variable, "/nowhere")
    with pytest.raises(errors.CompilerMissing, match="/nowhere"):
        PyGPU.load(folder / "mine.cu", options=["-DOTHER"])


def test_a_slow_build_says_so(folder, compiler, capfd, monkeypatch):
    monkeypatch.setenv("PYGPU_PROGRESS", "0.000001")
    for _ in range(2):  # the second is in the cache
        PyGPU.build(folder / "mine.cu", options=["-DSLOW"], cache_dir=folder / "cache")
    first, second = capfd.readouterr().err.splitlines()
    assert first == f"PyGPU: building mine.cu for {PyGPU.target} ..."
    assert second.startswith(f"PyGPU: built mine.cu for {PyGPU.target} in ")


def test_calls_that_wait(mine, python):
    """With PYGPU_CHECK_CALLS=sync the error of a kernel is that of the call that launched it."""
    code = (
        "import PyGPU, numpy as np\n"
        "from PyGPU import errors, gpuarray\n"
        f"f = PyGPU.load({str(mine.path)!r}, errors=True).axpy_f64\n"
        "a = gpuarray.zeros(8, 'f8')\n"
        "assert f(1.0, a, a, 8) is None\n"
        "try:\n"
        "    f(1.0, None, a, 8)\n"
        "except errors.Error as error:\n"
        "    assert 'axpy_f64' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('a null pointer was read')\n"
    )
    python(code, PYGPU_CHECK_CALLS="sync")


def test_names_of_the_package():
    assert PyGPU.load is library.load
    assert "LibraryFunction" in PyGPU.__all__
    assert not {"load", "build"} & {*PyGPU.__all__}  # other packages have such names too
    assert Path(PyGPU.get_include(), "PyGPU", "export.h").is_file()
