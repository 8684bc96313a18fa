"""Compilation of kernel text to an image: reading the text, the compilers, the cache on disk.

The modules are imported at first use, so that a program that compiles nothing does not pay for it.
"""

from types import ModuleType

from PyGPU._runtime import hooks

#: The modules that other packages import from here, and their folders.
DEFERRED = {
    "architectures": "cache",
    "dependencies": "cache",
    "entries": "cache",
    "entry": "cache",
    "eviction": "cache",
    "files": "cache",
    "image_files": "cache",
    "kept": "cache",
    "own_files": "cache",
    "build": "compilers",
    "code_object": "compilers",
    "default_flags": "compilers",
    "device_names": "compilers",
    "host_compiler": "compilers",
    "host_lockstep": "compilers",
    "libraries": "compilers",
    "link": "compilers",
    "options": "compilers",
    "rtc": "compilers",
    "c_names": "source",
    "child_launches": "source",
    "comments": "source",
    "constants": "source",
    "dynamic_shared": "source",
    "headers": "source",
    "hints": "source",
    "includes": "source",
    "kernel_types": "source",
    "lockstep": "source",
    "name_expressions": "source",
    "signature": "source",
    "toolkit_headers": "source",
    "variables": "source",
}


def __getattr__(name: str) -> ModuleType:
    if name not in DEFERRED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = hooks.loaded(f"{__name__}.{DEFERRED[name]}.{name}")
    return module
