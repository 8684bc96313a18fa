"""The rules of the house for Python's modules: who imports whom, and who asks for the target."""

import ast
import functools
import re

from house import PYTHON, ROOT, for_each, longest_chains, relative


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


def test_no_import_cycle():
    graph = {module: imports_of(module) for module in MODULES if module != "PyGPU"}
    for module in graph:
        if module != "PyGPU.__main__":
            assert "PyGPU" not in graph[module], f"{module} imports the whole package"
    longest = max(longest_chains(graph).values(), key=len)
    assert len(longest) <= MOST_IMPORTS, " -> ".join(longest)


MOST_IMPORTS = 11


def test_no_cycle_of_packages():
    """Packages are compared whole: Python runs their __init__.py before any module inside."""

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
