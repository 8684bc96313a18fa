"""The rules of the house, read off the source text."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# All of C++, whatever it is called: "rtc/array" and "device/pycuda-complex.hpp" are headers, too.
CPP = sorted(
    path
    for top in ("include", "src")
    for path in ROOT.glob(f"{top}/**/*")
    if path.is_file() and path.suffix != ".md"
)
# Headers for kernels alone, which the library never includes.
KERNEL_FOLDERS = {"device", "rtc", "rtc_hip", "host"}
LIBRARY = [p for p in CPP if "src" in p.parts or p.relative_to(ROOT).parts[2] not in KERNEL_FOLDERS]
HEADERS = [path for path in LIBRARY if path.suffix == ".h"]
PYTHON = sorted(ROOT.glob("PyGPU/**/*.py"))
SOURCES = [*CPP, *PYTHON, *sorted(ROOT.glob("tests/**/*.py")), ROOT / "setup.py"]

VENDOR_MACRO = re.compile(
    r"PYGPU_TARGET_(CUDA|HIP|HOST)|__CUDACC__|__HIP|__NVCC__|CUDART_VERSION|HIP_VERSION"
)


def relative(path):
    return str(path.relative_to(ROOT))


def for_each(paths):
    """A rule about one file as a test of all of them, which names every file that breaks it."""

    def decorate(rule):
        def complaint(path):
            try:
                rule(path)
            except AssertionError as error:
                return f"{relative(path)}: {error}"
            return None

        @functools.wraps(rule, updated=())
        def test():
            broken = list(filter(None, map(complaint, paths)))
            assert not broken, "\n".join(broken)

        del test.__wrapped__  # whose parameter pytest would take for a fixture
        return test

    return decorate


@functools.cache
def without_comments(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r"//.*", "", text)


INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def includes(path):
    return [name for _, name in INCLUDE.findall(without_comments(path))]


def ours(path, name):
    """The file of ours that an include names, or None."""
    folders = [path.parent, ROOT / "include", ROOT / "src"]
    if path not in LIBRARY:  # kernels are compiled with these folders, too
        folders += [ROOT / "include" / "PyGPU" / folder for folder in sorted(KERNEL_FOLDERS)]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


@for_each(CPP)
def test_includes_of_ours_are_there(path):
    for kind, name in INCLUDE.findall(without_comments(path)):
        if kind == '"' or name.startswith("PyGPU/"):
            assert ours(path, name), name


def is_of_the_seam(path):
    """The vendor's seam: the headers that say what a target or its run-time compiler lacks."""
    return (
        path.name == "gpu.h" or path.parent.name == "vendor" or {"rtc", "rtc_hip"} & {*path.parts}
    )


# What asks whether a device's compiler is at work at all, and not which.
ANY_DEVICE = "#if !defined(__device__) && !defined(__CUDACC__) && !defined(__HIP__)"


@for_each(CPP)
def test_target_conditions_stand_in_the_vendor_seam_alone(path):
    if is_of_the_seam(path):
        return
    conditions = re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*$", without_comments(path), re.M)
    asked = [line.strip() for line in conditions if VENDOR_MACRO.search(line)]
    assert set(asked) <= {ANY_DEVICE}


FOR_MODULES = {"view.h", "view_reading.h", "ptr_wrapper.h"}  # for users' pybind11 modules


@for_each(CPP)
def test_python_is_known_to_the_bindings_alone(path):
    if ROOT / "src" / "python" in path.parents or path.name in FOR_MODULES:
        return
    for name in includes(path):
        assert not re.match(r"pybind11|python/|Python\.h|structmember\.h", name), name


@for_each(CPP)
def test_pybind11_is_used_by_its_public_face(path):
    text = without_comments(path)
    assert not re.search(r"\b(py|pybind11)::detail\b", text)
    # What needs its registry of classes: bodies that one file alone has, and a compiler that has
    # made them part of their callers there leaves none to others.
    if path.name != "pybind11.cpp":
        assert not re.search(r"\bgil_(scoped|safe)\w*|\bpy::(class_|enum_|cpp_function)\b", text)


@for_each(LIBRARY)
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
    | {"cuda_arrays.h", "hip_arrays.h", "hip_attributes.h", "host_arrays.h"}
    | {"cuda_graphs.h", "hip_graphs.h", "host_graphs.h"}
    | {"last_error.h", "export.h", "type_kinds.h", "memory_kinds.h"}
    | {"cuda.h", "hip.h", "host.h", "cuda_on_host.h", "gpu.h", "settings.h"},
    {"error.h", "dtypes.h", "layout.h", "copy_plan.h", "pointer.h", "unique_handle.h", "dlpack.h"}
    | {"axes.h", "loop_axes.h", "pieces.h", "transfer_settings.h"},
    {"device.h", "stream.h", "capture.h", "block_cache.h", "memory_pool.h", "memory.h"}
    | {"device_array.h", "transfer.h", "transfer_watch.h", "staging.h", "kernel.h", "texture.h"}
    | {"graph.h"},
    {"array.h", "loop.h", "reduction_plan.h", "gather_plan.h"} | FOR_MODULES,
    {"objects.h", "memory_device.h"}
    | {
        f"{subject}_docs.h"
        for subject in ("copies", "device", "function", "memory", "pointers", "sharing")
    }
    | {"status_docs.h", "stream_docs.h"},
    {"heap_type.h", "numpy.h", "gil.h"},
    {"functions.h"},
    {"bindings.h", "hooks.h"},
    {
        "gpuarray.h",
        "map.h",
        "operators.h",
        "packing.h",
        "shape.h",
        "numbers.h",
        "exchange.h",
        "placement.h",
        "checks.h",
    }
    | {"methods.h", "fold.h", "specializations.h", "enqueue.h", "report.h"}
    | {"function.h", "prepared.h", "vectors.h", "library.h", "c_call.h"},
]


def layer_of(name):
    return next((i for i, names in enumerate(LAYERS) if Path(name).name in names), None)


HOST = ROOT / "src" / "host"
BODIES = [path for path in LIBRARY if ROOT / "src" / "core" in path.parents]


@for_each([*HEADERS, *BODIES])
def test_files_depend_downwards(path):
    """A body in src/core is of its header's layer."""
    if HOST in path.parents:
        return
    own = layer_of(path.with_suffix(".h"))
    assert own is not None, "a header without a layer: add it to LAYERS"
    for found in filter(None, (ours(path, name) for name in includes(path))):
        if path.name == "cuda_on_host.h" and found.parent.name in {"host", "device"}:
            continue
        layer = layer_of(found)
        assert layer is not None, f"{relative(path)} includes {relative(found)}, of no layer"
        assert layer <= own, f"{relative(path)} includes {relative(found)}"


RING = [
    p for p in LIBRARY if p.parent in (ROOT / "include/PyGPU/runtime", ROOT / "src/core/runtime")
]


@for_each(RING)
def test_the_light_ring_knows_itself_and_the_seam_alone(path):
    for found in filter(None, (ours(path, name) for name in includes(path))):
        assert found in RING or layer_of(found) == 0, relative(found)


def test_no_circle_of_components():
    """A header and its body are one component. Components of the core form no circle."""

    def component(path):
        return f"{path.parent.name}/{path.stem}"

    graph = {}
    for path in [*RING, *BODIES, *(p for p in HEADERS if p.parent.name == "arrays")]:
        below = filter(None, (ours(path, name) for name in includes(path)))
        graph.setdefault(component(path), set()).update(
            component(found) for found in below if layer_of(found) != 0
        )
    assert len(graph) > 20
    longest_chains({one: below - {one} for one, below in graph.items()})


@for_each([p for p in LIBRARY if HOST in p.parents])
def test_the_host_machine_knows_its_own_headers_and_the_seam_alone(path):
    for found in filter(None, (ours(path, name) for name in includes(path))):
        assert found.parent.name == "host" or layer_of(found) == 0, relative(found)


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_of(path): path for path in PYTHON if "shim" not in path.parts}
PACKAGES = {module for module, path in MODULES.items() if path.name == "__init__.py"}


def is_for_types(node):
    """Is it `if TYPE_CHECKING:`, which never runs? Only stubs may be imported there."""
    if not isinstance(node, ast.If) or not ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return False
    for one in ast.walk(node):
        if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("PyGPU"):
            names = {one.module, *(f"{one.module}.{alias.name}" for alias in one.names)}
            assert names & STUBS, f"{one.module}: no stub"
    return True


STUBS = {module_of(path) for path in ROOT.glob("PyGPU/**/*.pyi")}


@functools.cache
def imported(path):
    """(module, name) of PyGPU that a file imports: at its top level, deeper down, by its name."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if not is_for_types(node)]
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


@functools.cache
def deferred(module):
    """{name: folder} of the modules that a package imports at first use; "" is its own folder."""
    for node in ast.parse(MODULES[module].read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DEFERRED":
            value = ast.literal_eval(node.value)
            return value if isinstance(value, dict) else dict.fromkeys(value, "")
    return {}


def resolved(module, name):
    """The module that a name comes from: a face only passes on what lies inside."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    if module in PACKAGES and module != "PyGPU":
        if f"{module}.{deferred(module).get(name)}.{name}" in MODULES:
            return f"{module}.{deferred(module)[name]}.{name}"
        for inner, its_name in imported(MODULES[module])[0]:
            if its_name == name:
                return resolved(inner, name)
    return module


def imports_of(module):
    top, _, named = imported(MODULES[module])
    return {resolved(*one) for one in top | named}


@for_each(PYTHON)
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


MOST_IMPORTS = 9


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


def names_of_face(module):
    """The names that a package imports, at once or at first use."""
    return {name for _, name in imported(MODULES[module])[0]} | deferred(module).keys()


@for_each(PYTHON)
def test_no_private_package_imports_a_face(path):
    """Faces stand on private packages; a program on top loads them by name, as users do."""
    top = path.relative_to(ROOT).parts[1]
    if not top.startswith("_") or path.parent == ROOT / "PyGPU":
        return
    for one in imported(path)[0]:
        module = resolved(*one)
        parts = module.split(".")
        assert module == "PyGPU" or parts[1].startswith("_"), f"{module} is a face"


@for_each(PYTHON)
def test_insides_are_imported_through_the_face(path):
    """PyGPU's own modules at the top are faces and may look inside; packages see the faces."""
    top = path.relative_to(ROOT).parts[1]
    is_face = not top.startswith("_") or path.parent == ROOT / "PyGPU"
    for module, name in imported(path)[0] | imported(path)[2]:
        other = module.split(".")
        if len(other) == 1 or other[1] == top or f"PyGPU.{other[1]}" not in PACKAGES:
            continue
        # A folder in a package, such as _compile/source, belongs to the package alone.
        words = f"{module}.{name}".split(".")
        is_inner = len(words) > 3 and ".".join(words[:3]) in PACKAGES
        assert other[1] != "_compile" or not is_inner, f"{module}: import it from PyGPU.{other[1]}"
        if is_face or name is None:
            continue
        assert len(other) == 2, f"{module}: import it from PyGPU.{other[1]}"
        assert name in names_of_face(module), f"PyGPU.{other[1]} has no {name}"


def test_compilation_flows_one_way():
    """Compilers use the texts' readers and the cache, which know no compiler."""
    allowed = {"source": {"source"}, "cache": {"cache"}, "compilers": {"source", "cache"}}
    for path in (ROOT / "PyGPU" / "_compile").glob("*/*.py"):
        for module, name in imported(path)[0]:
            words = f"{module}.{name}".split(".")
            if words[:2] == ["PyGPU", "_compile"]:
                own = path.parent.name
                assert words[2] in {own, *allowed[own]}, f"{relative(path)} imports {module}"


# Where Python asks which target is in use: its choice, its capabilities, its back end.
ASK_THE_TARGET = {
    "PyGPU/_runtime/targets.py",
    "PyGPU/_runtime/capabilities.py",
    "PyGPU/_compile/compilers/build.py",
}
QUESTION = re.compile(
    r"""\b(?:core|PyGPU)\.(?:target|use_hip)\b      # the target's name, for whatever purpose
    | \btarget\b\s*(?:==|!=)(?!\s*["'](?:cubin|ptx|fatbin)\b)  # not an image's kind
    | (?:==|!=|\bin\s*[\[({]\s*)\s*["'](?:cuda|hip|host)["']
    | ["'](?:cuda|hip|host)["']\s*(?:==|!=)
    | \{\s*["'](?:cuda|hip|host)["']\s*:           # a table by targets' names
    """,
    re.X,
)


@for_each(PYTHON)
def test_the_target_is_asked_in_three_places(path):
    """Elsewhere, ask a capability or the back end."""
    if relative(path) not in ASK_THE_TARGET:
        assert not QUESTION.search(path.read_text()), QUESTION.search(path.read_text()).group()


def test_questions_about_the_target_are_found():
    """The rule can fail, and the three places do ask."""
    for text in (
        *(
            'if core.target == "host":',
            "name = PyGPU.target",
            "request.target != own",
            "core.use_hip",
        ),
        *('vendor in ("cuda", "hip")', '"hip" == vendor', '{"cuda": 1, "hip": 2}[one]'),
    ):
        assert QUESTION.search(text), text
    for path in ASK_THE_TARGET:
        assert QUESTION.search((ROOT / path).read_text()), path


def test_cpp_reaches_python_by_hooks_alone():
    for path in CPP:
        assert not re.findall(r'[iI]mport\w*\(\s*"PyGPU[\w.]*"', path.read_text()), relative(path)


def test_the_top_has_few_modules():
    assert len(list((ROOT / "PyGPU").glob("*.py"))) <= 21


@for_each(SOURCES)
def test_files_are_short_and_say_what_they_are(path):
    lines = path.read_text().splitlines()
    if path.name == "py.typed" or not lines:
        return
    assert len(lines) <= 450
    assert lines[0].startswith(("//", '"""')), "the first line says which concept the file is"


def test_test_files_have_unique_names():
    """pytest imports them by their names alone."""
    names = [path.name for path in ROOT.glob("tests/**/test_*.py")]
    assert [name for name in names if names.count(name) > 1] == []
