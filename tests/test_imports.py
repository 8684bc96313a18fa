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
    """Return True for `if TYPE_CHECKING:`, which never runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


@functools.cache
def imported(path):
    """Return the pairs (module, name) of PyGPU that a file imports at its top and in functions."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if not is_for_types(node)]
    top, deep = set(), set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path}: relative import"
            names = [(node.module, alias.name) for alias in node.names]
        ours = {name for name in names if name[0].split(".")[0] == "PyGPU"}
        (top if node in tree.body else deep).update(ours)
    return top, deep


def resolved(module, name):
    """Return the module that defines a name; a face passes on the names of others."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    if module in PACKAGES and module != "PyGPU":
        for inner, its_name in imported(MODULES[module])[0]:
            if its_name == name:
                return resolved(inner, name)
    return module


def imports_of(module):
    return {resolved(*one) for one in imported(MODULES[module])[0]}


# Packages of commands, which import the faces as users' programs do.
COMMANDS = {"__main__", "_tools"}


def test_no_import_cycle():
    graph = {module: imports_of(module) for module in MODULES if module != "PyGPU"}
    for module in graph:
        if module.split(".")[1] not in COMMANDS:
            assert "PyGPU" not in graph[module], f"{module} imports the whole package"
    longest_chains(graph)


def test_no_cycle_of_packages():
    """Packages are compared whole: Python runs their __init__.py before any module inside."""

    def package(module):
        return ".".join(module.split(".")[:2])

    graph = {}
    for module, path in MODULES.items():
        if module != "PyGPU" and path.parent != ROOT / "PyGPU":
            below = {package(other) for other, _ in imported(path)[0]}
            graph.setdefault(package(module), set()).update(below - {package(module)})
    longest_chains(graph)


@for_each(PYTHON)
def test_no_private_package_imports_a_face(path):
    """Faces stand on private packages, but for commands."""
    top = path.relative_to(ROOT).parts[1]
    if not top.startswith("_") or path.parent == ROOT / "PyGPU" or top in COMMANDS:
        return
    for one in set().union(*imported(path)):
        module = resolved(*one)
        parts = module.split(".")
        assert module == "PyGPU" or parts[1].startswith("_"), f"{module} is a face"


@for_each(PYTHON)
def test_insides_are_imported_through_the_face(path):
    """A package imports another's modules and the names in its __init__.py; faces look inside."""
    top = path.relative_to(ROOT).parts[1]
    if not top.startswith("_") or path.parent == ROOT / "PyGPU":
        return
    for module, name in set().union(*imported(path)):
        other = module.split(".")
        if len(other) == 1 or other[1] == top or f"PyGPU.{other[1]}" not in PACKAGES:
            continue
        assert module in PACKAGES, f"{module}: import it from {module.rpartition('.')[0]}"
        names = {its_name for _, its_name in imported(MODULES[module])[0]}
        assert name in names or f"{module}.{name}" in MODULES, f"{module} has no {name}"


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
