"""The rules of the house, read off the source text."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Headers for kernels alone, which the library never includes.
FOR_KERNELS = {"device", "rtc", "rtc_hip", "host"}
CPP = sorted(
    path
    for pattern in ("include/**/*.h*", "src/**/*.h*", "src/**/*.cpp")
    for path in ROOT.glob(pattern)
    if not FOR_KERNELS & set(path.relative_to(ROOT).parts[2:]) or "src" in path.parts
)
PYTHON = sorted(ROOT.glob("PyGPU/**/*.py"))
SOURCES = [*CPP, *PYTHON, *sorted(ROOT.glob("tests/**/*.py")), ROOT / "setup.py"]

VENDOR_MACRO = re.compile(
    r"PYGPU_TARGET_(CUDA|HIP|HOST)|__CUDACC__|__HIP|__NVCC__|CUDART_VERSION|HIP_VERSION"
)


def relative(path):
    return str(path.relative_to(ROOT))


def without_comments(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r"//.*", "", text)


def includes(path):
    return re.findall(r'#\s*include\s+[<"]([^>"]+)[>"]', path.read_text())


@pytest.mark.parametrize("path", CPP, ids=relative)
def test_target_conditions_stand_in_the_vendor_seam_alone(path):
    if path.name == "gpu.h" or path.parent.name == "vendor":
        return
    conditions = re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*$", without_comments(path), re.M)
    assert not [line for line in conditions if VENDOR_MACRO.search(line)]


@pytest.mark.parametrize("path", CPP, ids=relative)
def test_python_is_known_to_the_bindings_alone(path):
    wanted = [name for name in includes(path) if name.startswith("pybind11") or name == "Python.h"]
    if path.name == "bindings.h":
        assert wanted
    else:
        assert not wanted
    if {"bindings.h", "gpuarray.h", "bind_packing.h"} & set(includes(path)):
        assert re.match(r"(bind_|gpuarray|module)", path.name)


@pytest.mark.parametrize("path", CPP, ids=relative)
def test_ownership_is_written_once(path):
    if path.name == "unique_handle.h":
        return
    text = without_comments(path)
    assert not re.search(r"(^|\s)(virtual\s+)?~\w+\s*\(", text), "a destructor"
    assert not re.search(r"\b(\w+)\s*\(\s*\1\s*&&", text), "a move constructor"
    assert not re.search(r"operator=\s*\(\s*\w+\s*&&", text), "a move assignment"


# Each layer may include what stands before it.
LAYERS = [
    {"cuda_numbers.h", "cuda_modules.h", "hip_modules.h", "host_modules.h"}
    | {"cuda_arrays.h", "hip_arrays.h", "host_arrays.h"}
    | {"cuda.h", "hip.h", "host.h", "cuda_on_host.h", "gpu.h"},
    {"error.h", "dtypes.h", "layout.h", "copy_plan.h", "pointer.h", "unique_handle.h", "dlpack.h"},
    {
        "device.h",
        "small_blocks.h",
        "stream.h",
        "memory.h",
        "device_array.h",
        "transfer.h",
        "kernel.h",
        "texture.h",
    },
    {"array.h", "elementwise.h"},
    {"bindings.h", "gpuarray.h", "gpuarray_map.h", "gpuarray_operate.h"}
    | {"bind_packing.h", "bind_numbers.h", "bind_dlpack.h"},
]


def layer_of(name):
    return next((i for i, names in enumerate(LAYERS) if Path(name).name in names), None)


@pytest.mark.parametrize("path", [p for p in CPP if p.suffix == ".h"], ids=relative)
def test_headers_depend_downwards(path):
    if path.parent.name == "host":
        return
    own = layer_of(path.name)
    assert own is not None, "a header without a layer: add it to LAYERS"
    for name in includes(path):
        layer = layer_of(name)
        assert layer is None or layer <= own, f"{path.name} includes {name}"


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def internal_imports(path):
    """Modules of PyGPU that a file imports at its top level, and those imported deeper down."""
    tree = ast.parse(path.read_text())
    top, deep = set(), set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "PyGPU":
            names = [f"PyGPU.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        ours = {name for name in names if name.split(".")[0] == "PyGPU"}
        (top if node in tree.body else deep).update(ours)
    return top, deep


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_no_internal_import_inside_a_function(path):
    assert not internal_imports(path)[1]


def test_no_import_cycle():
    graph = {module_of(p): internal_imports(p)[0] for p in PYTHON if p.parent.name != "pycuda"}
    graph = {module: imports for module, imports in graph.items() if module != "PyGPU"}
    done = set()

    def visit(module, path):
        assert module not in path, " -> ".join([*path, module])
        if module in done:
            return
        for other in graph.get(module, ()):
            visit(other, [*path, module])
        done.add(module)

    for module in graph:
        if module != "PyGPU.__main__":
            assert "PyGPU" not in graph[module], f"{module} imports the whole package"
        visit(module, [])


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_files_are_short_and_say_what_they_are(path):
    lines = path.read_text().splitlines()
    if path.name == "py.typed" or not lines:
        return
    assert len(lines) <= 450
    assert lines[0].startswith(("//", '"""')), "the first line says which concept the file is"
