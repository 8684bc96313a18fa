"""nvcc's options, as programs pass them: what each becomes for a compiler that is not nvcc."""

import logging
from pathlib import Path

import numpy as np
import pytest

from PyGPU import gpuarray
from PyGPU._compile.compilers import options as _options
from PyGPU.compiler import SourceModule

PLAIN = _options.Options()


def parsed(*words):
    """What differs from the defaults, as a dict."""
    found = _options.parse(list(words))
    return {name: value for name, value in vars(found).items() if value != getattr(PLAIN, name)}


# Words -> what they mean.
UNDERSTOOD = [
    ("", {}),
    ("-arch=sm_90", {"arch": "sm_90"}),
    ("-arch sm_90", {"arch": "sm_90"}),
    ("--gpu-architecture=compute_80", {"arch": "compute_80"}),
    ("--gpu-architecture compute_80", {"arch": "compute_80"}),
    ("-arch=sm_75 -arch=sm_90", {"arch": "sm_90"}),
    ("-std=c++11", {"std": "c++11"}),
    ("-std c++14", {"std": "c++14"}),
    ("--std=c++17", {"std": "c++17"}),
    ("--std c++20", {"std": "c++20"}),
    ("-I/a/b", {"include_dirs": ["/a/b"]}),
    ("-I /a/b", {"include_dirs": ["/a/b"]}),
    ("-I=/a/b", {"include_dirs": ["/a/b"]}),
    ("--include-path=/a/b", {"include_dirs": ["/a/b"]}),
    ("--include-path /a/b", {"include_dirs": ["/a/b"]}),
    ("-isystem /a/b", {"include_dirs": ["/a/b"]}),
    ("-isystem=/a/b", {"include_dirs": ["/a/b"]}),
    ("-I/b -I/a -I c", {"include_dirs": ["/b", "/a", "c"]}),
    ("-DN", {"macros": ["-DN"]}),
    ("-DN=1", {"macros": ["-DN=1"]}),
    ("-D N=1", {"macros": ["-DN=1"]}),
    ("-DTEXT=a=b", {"macros": ["-DTEXT=a=b"]}),
    ("--define-macro=N=1", {"macros": ["-DN=1"]}),
    ("--define-macro N", {"macros": ["-DN"]}),
    ("-UN", {"macros": ["-UN"]}),
    ("-U N", {"macros": ["-UN"]}),
    ("--undefine-macro=N", {"macros": ["-UN"]}),
    ("-DN=1 -UN -DN=2", {"macros": ["-DN=1", "-UN", "-DN=2"]}),
    ("-include a.h", {"pre_includes": ["a.h"]}),
    ("--pre-include=a.h", {"pre_includes": ["a.h"]}),
    ("--use_fast_math", {"fast_math": True}),
    ("-use_fast_math", {"fast_math": True}),
    ("-G", {"debug": True}),
    ("--device-debug", {"debug": True}),
    ("-lineinfo", {"line_info": True}),
    ("--generate-line-info", {"line_info": True}),
    ("-O0", {"optimize": "0"}),
    ("-O3", {"optimize": "3"}),
    ("-maxrregcount=32", {"max_registers": 32}),
    ("--maxrregcount 64", {"max_registers": 64}),
    ("-w", {"warnings": False}),
    ("--disable-warnings", {"warnings": False}),
    ("--ptxas-options=-v", {"ptxas": ["-v"]}),
    ("--ptxas-options -v", {"ptxas": ["-v"]}),
    ("-Xptxas -v", {"ptxas": ["-v"]}),
    ("-Xptxas=-O3", {"ptxas": ["-O3"]}),
    ("-gencode arch=compute_90,code=sm_90", {"arch": "sm_90"}),
    ("-gencode=arch=compute_80,code=sm_80", {"arch": "sm_80"}),
    ("--generate-code arch=compute_80,code=compute_80", {"arch": "compute_80"}),
    ("-gencode arch=compute_80,code=[sm_80,compute_80]", {"arch": "sm_80"}),
    ("-arch=sm_90 -gencode arch=compute_75,code=sm_75", {"arch": "sm_90"}),
    *[(word, {"relocatable": True}) for word in ("-dc", "--device-c", "-rdc=true", "-rdc true")],
    ("--relocatable-device-code=true", {"relocatable": True}),
    ("-rdc=true -rdc=false", {}),
    ("-dlto", {"link_time": True}),
    ("--dlink-time-opt", {"link_time": True}),
    ("--fmad=false", {"other": ["--fmad=false"]}),
    ("-ftz=true", {"other": ["-ftz=true"]}),
    ("-prec-div=false -prec-sqrt=false", {"other": ["-prec-div=false", "-prec-sqrt=false"]}),
    ("--unheard-of", {"other": ["--unheard-of"]}),
]

# For nvcc's host compiler, linker and files alone: left out, and said so in the log.
IGNORED = [
    *("-g", "-m64", "-c", "-v", "--verbose", "--keep", "-keep", "-lcudadevrt", "-lcublas"),
    *("-cubin", "--cubin", "-ptx", "--ptx", "-dw", "-fatbin", "--shared"),
    *("--expt-relaxed-constexpr", "--expt-extended-lambda"),
    *("-Wno-deprecated-gpu-targets", "--resource-usage", "-res-usage", "-fPIC", "--save-temps"),
    *("-L/usr/lib", "-Wall", "-O", "-e NAME", "--entries NAME", "-Xcompiler -fPIC"),
    *("-Xcompiler=-fPIC", "-Xcompiler -O3,-Wall", "--compiler-options=-fPIC", "-ccbin g++-12"),
    *("--compiler-options -fPIC", "-ccbin=/usr/bin/g++", "--compiler-bindir /usr/bin"),
    *("-code=sm_90", "-code sm_90", "--gpu-code=sm_90", "-x cu", "-o a.out", "-L /usr/lib"),
    *("-l cudadevrt", "-Xlinker -s", "-default-stream per-thread", "--default-stream=legacy"),
    *("-odir /tmp", "--threads 4", "-t=4", "--machine=64", "-m 64", "-Xnvlink -v"),
    *("-Werror all-warnings", "--optimize 3"),
]


@pytest.mark.no_device
@pytest.mark.parametrize(("words", "expected"), UNDERSTOOD, ids=[row[0] for row in UNDERSTOOD])
def test_what_is_understood(words, expected):
    assert parsed(*words.split()) == expected


@pytest.mark.no_device
@pytest.mark.parametrize("words", IGNORED)
def test_what_only_nvcc_can_follow_is_left_out_with_a_word_in_the_log(words, caplog):
    with caplog.at_level(logging.INFO, "PyGPU"):
        # What follows shows that exactly the option's own value was taken with it.
        assert parsed(*words.split(), "-DAFTER") == {"macros": ["-DAFTER"]}
    assert words.split()[0].split("=")[0] in caplog.text and "ignored" in caplog.text


@pytest.mark.no_device
def test_the_order_of_different_options_does_not_matter():
    one = _options.parse(["-DA", "-I/x", "-O2", "-std=c++14"])
    other = _options.parse(["-std=c++14", "-O2", "-I/x", "-DA"])
    assert one == other


@pytest.mark.no_device
def test_words_are_stripped_and_empty_ones_skipped():
    assert parsed(" -DA ", "", "  ", "-std=c++14\n") == {"macros": ["-DA"], "std": "c++14"}


@pytest.mark.no_device
def test_a_value_keeps_its_blanks():
    assert parsed("-I/a folder", "-I", "/another one") == {
        "include_dirs": ["/a folder", "/another one"]
    }
    assert parsed('-DTEXT="a b"') == {"macros": ['-DTEXT="a b"']}


@pytest.mark.no_device
def test_paths_serve_as_values():
    assert parsed("-I", Path("/a/b")) == {"include_dirs": ["/a/b"]}


@pytest.mark.no_device
def test_what_is_given_is_not_changed():
    words = ["-arch", "sm_90", "-I", "/x", "-g"]
    before = list(words)
    _options.parse(words)
    assert words == before
    assert _options.parse(tuple(words)) == _options.parse(words)
    assert _options.parse(word for word in words) == _options.parse(words)


@pytest.mark.no_device
@pytest.mark.parametrize("options", ["-O3", b"-O3", [b"-O3"], [3], [None], [["-O3"]], 5, [1.5]])
def test_options_are_a_list_of_str(options):
    with pytest.raises(TypeError):
        _options.parse(options)


@pytest.mark.no_device
@pytest.mark.parametrize(
    "word",
    ["-arch", "-std", "-I", "-D", "-U", "-include", "-maxrregcount", "-Xptxas", "-Xcompiler"]
    + ["-gencode", "-ccbin", "-e", "-o", "--define-macro", "--include-path"],
)
def test_a_missing_value_is_named(word):
    with pytest.raises(ValueError, match=f"options: {word} needs a value"):
        _options.parse(["-O3", word])


@pytest.mark.no_device
@pytest.mark.parametrize("value", ["many", "-1", "", "1.5"])
def test_a_wrong_number_of_registers_names_the_option(value):
    with pytest.raises(ValueError, match="maxrregcount"):
        _options.parse([f"-maxrregcount={value}"])


@pytest.mark.no_device
def test_flags_from_the_environment(monkeypatch):
    for name in ("PYGPU_DEFAULT_NVCC_FLAGS", "PYCUDA_DEFAULT_NVCC_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    assert _options.flags_of_environment() == []
    monkeypatch.setenv("PYCUDA_DEFAULT_NVCC_FLAGS", " -DA  -DB=2\t-O1 ")
    assert _options.flags_of_environment() == ["-DA", "-DB=2", "-O1"]
    monkeypatch.setenv("PYGPU_DEFAULT_NVCC_FLAGS", "-DC")
    assert _options.flags_of_environment() == ["-DC"]


def test_a_compilation_with_all_that_nvcc_takes(tmp_path):
    """A long command line, of programs that are built by make elsewhere."""
    (tmp_path / "own.h").write_text("#define FROM_HEADER 100\n")
    options = [
        *("-O3", "-g", "-m64", "-Xcompiler", "-fPIC", "--compiler-options=-Wall", "-ccbin=g++"),
        *("-I", str(tmp_path), "-DONE=1", "-D", "TWO=2", "-UNOTHING", "-std=c++14"),
        *("--expt-relaxed-constexpr", "-Wno-deprecated-gpu-targets", "-rdc=true", "-lcudadevrt"),
        *("--resource-usage", "-default-stream", "per-thread", "-lineinfo", "-L/usr/lib"),
        *("--use_fast_math", "-w", "--keep", "-x", "cu", "-e", "write", "--threads", "2"),
    ]
    source = """
    #include "own.h"
    __global__ void write(int *out) { *out = FROM_HEADER + 10 * TWO + ONE; }
    """
    write = SourceModule(source, options=options, cache_dir=False).get_function("write")
    out = gpuarray.zeros(1, np.int32)
    write(out, block=(1, 1, 1))
    assert out.get()[0] == 121


def test_macros_apply_in_their_order():
    source = """
    __global__ void write(int *out)
    {
    #ifdef N
      *out = N;
    #else
      *out = -1;
    #endif
    }
    """
    out = gpuarray.zeros(1, np.int32)
    for options, expected in ((["-DN=1"], 1), (["-DN=1", "-UN"], -1), (["-DN"], 1), ([], -1)):
        SourceModule(source, options=options).get_function("write")(out, block=(1, 1, 1))
        assert out.get()[0] == expected, options
