"""The rules of the house for C++ and for all files, read off the source text."""

import functools
import re
from pathlib import Path

from house import (
    CPP,
    HEADERS,
    KERNEL_FOLDERS,
    LIBRARY,
    ROOT,
    SOURCES,
    for_each,
    longest_chains,
    relative,
)

VENDOR_MACRO = re.compile(
    r"PYGPU_TARGET_(CUDA|HIP|HOST)|__CUDACC__|__HIP|__NVCC__|CUDART_VERSION|HIP_VERSION"
)


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


# A condition on whether any device's compiler is at work.
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
    # These swallow every exception, such as a KeyboardInterrupt; attribute_or_null does not.
    assert not re.search(r"\bpy::(hasattr\(|getattr\(([^()]|\([^()]*\))*,[^()]*,)", text)
    # These use pybind11's registry of classes, whose functions one file defines; a compiler may
    # inline them there, and then other files lack them.
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
    {"capabilities.h", "cuda_numbers.h", "cuda_modules.h", "hip_modules.h", "host_modules.h"}
    | {"cuda_arrays.h", "hip_arrays.h", "hip_attributes.h", "host_arrays.h"}
    | {"cuda_graphs.h", "hip_graphs.h", "host_graphs.h"}
    | {"last_error.h", "export.h", "type_kinds.h", "memory_kinds.h", "dlpack.h"}
    | {"cuda.h", "hip.h", "hip_sources.h", "host.h", "cuda_on_host.h", "gpu.h", "settings.h"},
    {"error.h", "dtypes.h", "layout.h", "copy_plan.h", "pointer.h", "unique_handle.h"}
    | {"axes.h", "loop_axes.h", "pieces.h", "transfer_settings.h", "host_blocks.h", "cores.h"}
    | {"quiet_thread.h", "streaming_copy.h", "system_files.h", "thread_team.h"},
    {"device.h", "stream.h", "capture.h", "block_cache.h", "memory_pool.h", "memory.h", "peers.h"}
    | {"memory_stats.h", "host_function.h"}
    | {"device_array.h", "transfer.h", "transfer_watch.h", "staging.h", "bounce.h"}
    | {"staging_job.h", "event_wait.h"}
    | {"kernel.h", "texture.h"}
    | {"graph.h"},
    {"array.h", "loop.h", "reduction_plan.h", "gather_plan.h"} | FOR_MODULES,
]


def layer_of(name):
    return next((i for i, names in enumerate(LAYERS) if Path(name).name in names), None)


HOST = ROOT / "src" / "host"
BINDINGS = ROOT / "src" / "python"
BODIES = [path for path in LIBRARY if ROOT / "src" / "core" in path.parents]


@for_each([*(path for path in HEADERS if BINDINGS not in path.parents), *BODIES])
def test_files_depend_downwards(path):
    """A body in src/core is of its header's layer. The bindings stand on floors of their own."""
    if HOST in path.parents:
        return
    own = layer_of(path.with_suffix(".h"))
    assert own is not None, "a header without a layer: add it to LAYERS"
    for found in filter(None, (ours(path, name) for name in includes(path))):
        if path.name == "cuda_on_host.h" and found.parent.name in {"host", "device"}:
            continue
        if path.name == "hip_sources.h" and found.parent.name == "rtc_hip":
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


@for_each([p for p in HEADERS if p.is_relative_to(ROOT / "include") and p not in RING])
def test_headers_of_the_package_include_what_it_has(path):
    """A wheel leaves out the folders of headers that are for the package's own sources."""
    left_out = re.search(r"^OWN_HEADERS = \[(.*)\]", (ROOT / "setup.py").read_text(), re.M)[1]
    if f'"{path.parent.name}"' not in left_out:
        for found in filter(None, (ours(path, name) for name in includes(path))):
            assert f'"{found.parent.name}"' not in left_out, relative(found)


# Floors of the bindings: files of a floor include their own floor and those before it.
FLOORS = ["binding", "arguments", "runtime", "value", "launch", "operations", "array exchange"]


def floor_of(name):
    """The floor of a header or body below src/python; None for the list of binders."""
    first = re.match(r"python/(\w+)", name)[1]
    return next((i for i, floor in enumerate(FLOORS) if first in floor.split()), None)


@for_each([p for p in CPP if BINDINGS in p.parents])
def test_the_bindings_stand_on_floors(path):
    own = floor_of(str(path.relative_to(ROOT / "src")))
    if own is None:
        assert path.stem in ("module", "binders")
        return
    for name in includes(path):
        if name.startswith("python/") and name != "python/binders.h":
            assert floor_of(name) <= own, f"{relative(path)} includes {name}"


def test_no_circle_of_components():
    """A header and its body are one component."""

    def component(path):
        part = "python" if BINDINGS in path.parents else "core"
        return f"{part}/{path.parent.name}/{path.stem}"

    graph = {}
    bindings = [path for path in CPP if BINDINGS in path.parents]
    for path in [*RING, *BODIES, *bindings, *(p for p in HEADERS if p.parent.name == "arrays")]:
        below = filter(None, (ours(path, name) for name in includes(path)))
        graph.setdefault(component(path), set()).update(
            component(found) for found in below if layer_of(found) != 0
        )
    assert len(graph) > 100
    longest_chains({one: below - {one} for one, below in graph.items()})


@for_each([p for p in LIBRARY if HOST in p.parents])
def test_the_host_machine_knows_its_own_headers_and_the_seam_alone(path):
    for found in filter(None, (ours(path, name) for name in includes(path))):
        assert found.parent.name == "host" or layer_of(found) == 0, relative(found)


def test_cpp_reaches_python_by_hooks_alone():
    for path in CPP:
        assert not re.findall(r'[iI]mport\w*\(\s*"PyGPU[\w.]*"', path.read_text()), relative(path)


@for_each(SOURCES)
def test_files_are_short_and_say_what_they_are(path):
    lines = path.read_text().splitlines()
    if path.name == "py.typed" or not lines:
        return
    assert len(lines) <= 500 or path.name == "settings.py"  # a table
    assert lines[0].startswith(("//", '"""')), "the first line says which concept the file is"


def test_test_files_have_unique_names():
    """pytest imports them by their names alone."""
    names = [path.name for path in ROOT.glob("tests/**/test_*.py")]
    assert [name for name in names if names.count(name) > 1] == []
