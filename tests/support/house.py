"""The source files, for tests of the rules of the house."""

import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# All of C++, whatever it is called: "rtc/array" and "device/pycuda-complex.hpp" are headers, too.
CPP = sorted(
    path
    for top in ("include", "src")
    for path in ROOT.glob(f"{top}/**/*")
    if path.is_file() and path.suffix != ".md"
)
# Headers for kernels alone, which the library never includes.
KERNEL_FOLDERS = {"device", "kernels", "rtc", "rtc_hip", "host"}
LIBRARY = [p for p in CPP if "src" in p.parts or p.relative_to(ROOT).parts[2] not in KERNEL_FOLDERS]
HEADERS = [path for path in LIBRARY if path.suffix == ".h"]
PYTHON = sorted(ROOT.glob("PyGPU/**/*.py"))
SOURCES = [*CPP, *PYTHON, *sorted(ROOT.glob("tests/**/*.py")), ROOT / "setup.py"]


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
