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
    if ROOT / "src" / "python" in path.parents:
        return
    for name in includes(path):
        assert not re.match(r"pybind11|python/|Python\.h|structmember\.h", name), name


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
    {"error.h", "dtypes.h", "layout.h", "copy_plan.h", "pointer.h", "unique_handle.h", "dlpack.h"}
    | {"loop_axes.h", "gather_plan.h"},
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
    {"array.h", "loop.h", "reduction_plan.h"},
    {"objects.h"},
    {"heap_type.h", "numpy.h"},
    {"functions.h"},
    {"bindings.h", "hooks.h"},
    {"gpuarray.h", "map.h", "operators.h", "packing.h", "numbers.h", "exchange.h"}
    | {"methods.h", "fold.h", "specializations.h", "enqueue.h", "report.h"},
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


MODULES = {module_of(path): path for path in PYTHON if "shim" not in path.parts}
PACKAGES = {module for module, path in MODULES.items() if path.name == "__init__.py"}


def imported(path):
    """(module, name) of PyGPU that a file imports: at its top level, deeper down, by its name."""
    tree = ast.parse(path.read_text())
    top, deep, named = set(), set(), set()
    by_name = re.search(r"import_module|hooks\.defer", path.read_text())
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path}: relative import"
            names = [(node.module, alias.name) for alias in node.names]
        elif (
            by_name and isinstance(node, ast.Constant) and node.value in MODULES.keys() - {"PyGPU"}
        ):
            named.add((node.value, None))
        ours = {name for name in names if name[0].split(".")[0] == "PyGPU"}
        (top if node in tree.body else deep).update(ours)
    return top, deep, named


def resolved(module, name):
    """The module that a name comes from: a face only passes on what lies inside."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    if module in PACKAGES and module != "PyGPU":
        for inner, its_name in imported(MODULES[module])[0]:
            if its_name == name:
                return resolved(inner, name)
    return module


def imports_of(module):
    top, _, named = imported(MODULES[module])
    return {resolved(*one) for one in top | named}


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_no_internal_import_inside_a_function(path):
    assert not imported(path)[1]


def longest_chains(graph):
    """The longest chain of imports from each module down. Fails where there is a cycle."""
    chains = {}

    def visit(module, path):
        assert module not in path, " -> ".join([*path, module])
        if module not in chains:
            below = [visit(other, [*path, module]) for other in sorted(graph.get(module, ()))]
            chains[module] = [module, *max(below, key=len, default=[])]
        return chains[module]

    for module in graph:
        visit(module, [])
    return chains


def test_no_import_cycle():
    graph = {module: imports_of(module) for module in MODULES if module != "PyGPU"}
    for module in graph:
        if module != "PyGPU.__main__":
            assert "PyGPU" not in graph[module], f"{module} imports the whole package"
    longest = max(longest_chains(graph).values(), key=len)
    assert len(longest) <= MOST_IMPORTS, " -> ".join(longest)


MOST_IMPORTS = 17


def test_no_cycle_of_packages():
    """As Python sees them: a package's face is run before anything inside."""

    def package(module):
        return ".".join(module.split(".")[:2])

    graph = {}
    for module, path in MODULES.items():
        if module != "PyGPU" and path.parent != ROOT / "PyGPU":
            below = {package(other) for other, _ in imported(path)[0] | imported(path)[2]}
            graph.setdefault(package(module), set()).update(below - {package(module)})
    longest_chains(graph)


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_insides_are_imported_through_the_face(path):
    """PyGPU's own modules at the top are faces and may look inside; packages see the faces."""
    top = path.relative_to(ROOT).parts[1]
    if not top.startswith("_") or path.parent == ROOT / "PyGPU":
        return
    for module, name in imported(path)[0]:
        other = module.split(".")
        if len(other) == 1 or other[1] == top or f"PyGPU.{other[1]}" not in PACKAGES:
            continue
        assert len(other) == 2, f"{module}: import it from PyGPU.{other[1]}"
        face = imported(MODULES[module])[0]
        assert name in {its_name for _, its_name in face}, f"PyGPU.{other[1]} has no {name}"


def test_cpp_reaches_python_by_hooks_alone():
    for path in CPP:
        assert not re.findall(r'[iI]mport\w*\(\s*"PyGPU[\w.]*"', path.read_text()), relative(path)


def test_the_top_has_few_modules():
    assert len(list((ROOT / "PyGPU").glob("*.py"))) <= 20


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_files_are_short_and_say_what_they_are(path):
    lines = path.read_text().splitlines()
    if path.name == "py.typed" or not lines:
        return
    assert len(lines) <= 450
    assert lines[0].startswith(("//", '"""')), "the first line says which concept the file is"
