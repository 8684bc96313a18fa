"""Generator of the reference: a page of tables for each module, a page for each public name.

conf.py writes the pages before each build. A name that no pattern of GROUPS matches is in the table
"Further names" of its module. The pages of names are in no table of contents: furo repeats the
whole tree on every page, and the build would take three times as long.
"""

import functools
import importlib
import inspect
import re

import public_api

import PyGPU

INTRODUCTION = """\
Reference
=========

Every public class, function and runtime call, from its docstring. The examples of the docstrings
are run by the tests.

.. toctree::
   :hidden:

   {pages}
   ../settings
   ../errors
   ../command_line

{rows}

- :doc:`../settings`
- :doc:`../errors`: their causes and remedies
- :doc:`../command_line`: ``python -m PyGPU`` and ``pygpu``
"""
#: Contents of the modules' pages, in their order.
TITLES = {
    "PyGPU": "the low level",
    "PyGPU.gpuarray": "arrays",
    "PyGPU.cumath": "mathematical functions",
    "PyGPU.curandom": "random numbers",
    "PyGPU.elementwise": "elementwise kernels",
    "PyGPU.reduction": "reductions",
    "PyGPU.scan": "scans",
    "PyGPU.driver": "devices, memory, streams, modules",
    "PyGPU.compiler": "kernels from source text",
    "PyGPU.library": "compiled libraries",
    "PyGPU.transfer": "settings of transfers",
    "PyGPU.dask": "arrays of Dask",
    "PyGPU.diagnostics": "memory statistics, timers, profiler ranges, configuration",
    "PyGPU.tools": "memory pools, occupancy, C types",
    "PyGPU.errors": "exceptions",
    "PyGPU.characterize": "properties of a device",
    "PyGPU.compyte.array": "strides",
    "PyGPU.compyte.dtypes": "dtypes and C types",
    "PyGPU.sparse.cg": "sparse matrices, which are not provided",
}
#: Tables of the modules with many names: {module: [(title, pattern of the whole name)]}.
GROUPS = {
    "PyGPU": [
        ("Devices", r"cudaDevice\w+|device|cuda(Get|Set)Device\w*|cuda\w+GetVersion"),
        ("Memory", r"cuda(Malloc|Free|Host|MemGetInfo|MemPrefetch|Pointer)\w*"),
        ("Copies and fills", r"cudaMem(cpy|set)\w*"),
        ("Streams and events", r"cuda(Stream|Event)\w*|cudaLaunchHostFunc"),
        ("Other processes", r"cudaIpc\w+"),
        ("Errors and warnings", r"cuda(GetError|GetLastError|PeekAt|Error)\w*|\w+Warning"),
        ("Profiling", r"cudaProfiler\w+"),
        ("Arrays in host and device memory", r"DeviceArray(_\w+)?"),
        ("Pointers", r"pointer_wrapper(_\w+)?"),
        ("Allocators", r"(Host|Device|Pagelocked)?Allocator(_\w+)?|DeviceAllocation"),
        ("Users' libraries and PyCUDA's programs", r"get_\w+|install_as_pycuda|LibraryFunction"),
    ],
    "PyGPU.gpuarray": [
        ("The class", r"GPUArray|vec"),
        ("Creation", r"(empty|zeros|ones|full)(_like)?|arange|\w+space"),
        ("Transfers and conversion", r"to_gpu(_async)?|asarray|from_dlpack|require_contiguous"),
        ("Reductions", r"sum|prod|mean|min|max|all|any|dot|subset_\w+"),
        ("Selection", r"where|if_positive|take|put|multi_\w+|(max|min)imum|logical_\w+"),
        ("Shapes", r"concatenate|stack|reshape|transpose"),
        ("Fusion", r"fuse"),
        ("Several processes", r"share\w*|staged"),
    ],
    "PyGPU.cumath": [
        ("Trigonometry", r"a?(sin|cos|tan)h?|arc\w+|hypot|deg2rad|rad2deg"),
        ("Exponents, logarithms and powers", r"exp\w*|log\w*|sqrt|cbrt|square|reciprocal"),
        ("Rounding and parts", r"ceil|floor|rint|trunc|fmod|modf|frexp|ldexp|fabs|sign|copysign"),
        ("Classification", r"is\w+|signbit"),
    ],
    "PyGPU.elementwise": [
        ("Kernels from an expression", r"ElementwiseKernel"),
        ("PyCUDA's functions that return kernels", r"get_\w+"),
    ],
    "PyGPU.reduction": [
        ("Reductions from an expression", r"ReductionKernel"),
        ("PyCUDA's functions that return kernels", r"get_\w+"),
    ],
    "PyGPU.driver": [
        ("Devices and contexts", r"init|Device|Context|get_(driver_)?version"),
        ("Streams, events and graphs", r"Stream|Event|Graph"),
        ("Kernels and modules", r"Module|Function|Linker|module_from_\w+|\w*ArgumentHandler"),
        ("Arguments of kernels", r"In|Out|InOut|PointerHolderBase"),
        ("Device memory", r"mem_(alloc|get)\w*|to_device|from_device\w*|DeviceAllocation"),
        (
            "Host memory",
            r"(pagelocked|aligned|managed)_\w+|register_host_memory|\w+HostAllocation"
            r"|HostPointer|RegisteredHostMemory|ManagedAllocation",
        ),
        ("Copies", r"memcpy_\w+|Memcpy\w+|py_memcpy\w+"),
        ("Fills", r"memset_\w+"),
        (
            "Textures, surfaces and arrays",
            r"(Texture|Surface|Array)\w+|Array|\w*array\w*|\w+texref",
        ),
        ("Other processes", r"IPC\w+|ipc_\w+"),
        ("Profiling and debugging", r"\w*profiler\w*|set_debugging"),
        ("Constants", r"[a-z]\w+"),
    ],
    "PyGPU.tools": [
        ("Memory pools", r"\w*Pool\w*|\w*PageLocked\w*|Pooled\w+"),
        ("Devices", r"DeviceData|OccupancyRecord|\w+_device|\w*context\w*|mark_cuda_test|bitlog2"),
        ("C types and arguments", r"\w+"),
    ],
    "PyGPU.errors": [
        ("Exceptions and warnings", r"[A-Z]\w+"),
        ("Statuses and exceptions", r"[a-z]\w+"),
    ],
}
OBJECTS = public_api.objects()
HOMES = {path.rpartition(".")[0] for path in OBJECTS}
#: Modules with a page. PyGPU.dask needs dask, which the extra `site` installs.
MODULES = [module for module in TITLES if module in HOMES]
#: Spellings of public names: {path: path of its page}. PyGPU has the names of several modules.
SPELLINGS = {
    f"PyGPU.{name}": path
    for path, thing in OBJECTS.items()
    if getattr(PyGPU, name := path.rpartition(".")[2], None) is thing
}


def names_of(module):
    """Return the names of the public objects that have their page under a module."""
    return sorted(
        name for home, _, name in (path.rpartition(".") for path in OBJECTS) if home == module
    )


def tables(module):
    """Return [(title, names)] of a module: each name once, in the first group that matches."""
    left, found = names_of(module), []
    for title, pattern in GROUPS.get(module, [("Names", r"\w+")]):
        names = [name for name in left if re.fullmatch(pattern, name)]
        left = [name for name in left if name not in names]
        found.append((title, names))
    found.append(("Further names", left))
    return [(title, names) for title, names in found if names]


def page(module):
    """Return the text of a module's page."""
    text = inspect.getdoc(importlib.import_module(module))
    lines = [module, "=" * len(module), "", text]
    for group, names in tables(module):
        lines += ["", group, "-" * len(group), "", f".. currentmodule:: {module}", ""]
        lines += [".. autosummary::", "", *(f"   {name}" for name in names)]
    return "\n".join(lines) + "\n"


def page_of_name(path):
    """Return the text of the page of a public class, with its members, or of a function."""
    (module, _, name), thing = path.rpartition("."), OBJECTS[path]
    kind = "function"
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    lines = [":orphan:", "", name, "=" * len(name), "", f"Module :doc:`../{module}`", ""]
    lines += [f".. currentmodule:: {module}", "", f".. auto{kind}:: {name}"]
    members = public_api.members(path, thing) if kind != "function" else ()
    for member, value in sorted(members, key=lambda each: each[0]):
        is_method = inspect.isroutine(value) and not isinstance(value, functools.cached_property)
        kind = "method" if is_method else "attribute"
        lines += ["", f"   .. auto{kind}:: {name}.{member.rpartition('.')[2]}"]
    return "\n".join(lines) + "\n"


def pages():
    """Return {file name: text} of all pages of the reference."""
    assert TITLES.keys() >= HOMES, f"TITLES has no line for {HOMES - TITLES.keys()}"
    listed = "\n   ".join(MODULES)
    rows = "\n".join(f"- :doc:`{module}`: {TITLES[module]}" for module in MODULES)
    found = {f"{module}.rst": page(module) for module in MODULES}
    found |= {f"api/{path}.rst": page_of_name(path) for path in OBJECTS}
    return {"index.rst": INTRODUCTION.format(pages=listed, rows=rows), **found}


def write(folder):
    """Write the pages, and remove those of names that are gone."""
    (folder / "api").mkdir(parents=True, exist_ok=True)
    texts = pages()
    for path in folder.rglob("*.rst"):
        if str(path.relative_to(folder)) not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
