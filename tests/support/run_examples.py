"""Examples of the public docstrings, run as doctests.

They run in a process of their own, because some of them change it: one resets the device.
"""

import doctest
import inspect
import sys

import public_api

#: Modules whose examples compile kernels, which takes 0.1 s to 0.4 s each.
COMPILING_MODULES = {
    f"PyGPU.{name}"
    for name in (
        *("compiler", "cumath", "curandom", "dask", "elementwise", "gpuarray", "reduction", "scan"),
    )
}
#: Other public objects whose examples, or those of a method, compile kernels.
COMPILING = {
    "PyGPU.characterize.sizeof",
    *(
        f"PyGPU.driver.{name}"
        for name in (
            *("Function", "In", "InOut", "Linker", "Module", "Out", "SurfaceReference"),
            *("TextureObject", "TextureReference", "module_from_buffer", "module_from_file"),
        )
    ),
    "PyGPU.build",
    "PyGPU.library.build",
    "PyGPU.errors.CompileError",
}


def paths(module, is_compiling):
    """Return {path: object} of a module's objects whose examples compile kernels, or of the others.

    Parameters
    ----------
    module : str
        A public module, such as ``PyGPU.driver``.
    is_compiling : bool
        Which of the two.
    """
    found = {}
    for path, thing in public_api.objects().items():
        home = path.rpartition(".")[0]
        compiles = home in COMPILING_MODULES or path in COMPILING
        if home == module and compiles == is_compiling:
            found[path] = thing
    return found


def tests_of(path, thing):
    """Yield the doctests of an object and of its members, each with its own namespace."""
    parser = doctest.DocTestParser()
    each = [(path, thing), *(public_api.members(path, thing) if inspect.isclass(thing) else ())]
    for name, one in each:
        test = parser.get_doctest(inspect.getdoc(one) or "", {}, name, None, 0)
        if test.examples:
            yield test


def run(modules, is_compiling):
    """Run the examples, print failures, and exit with 1 if there are any."""
    runner = doctest.DocTestRunner()
    for module in modules:
        for path, thing in paths(module, is_compiling).items():
            for test in tests_of(path, thing):
                runner.run(test)
    print(f"{runner.tries} examples")
    sys.exit(runner.failures > 0)
