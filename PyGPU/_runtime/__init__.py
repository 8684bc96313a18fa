"""Common ground of all parts: the target in use, errors, streams, devices, argument checks."""

from PyGPU._runtime import errors, hooks, settings, state, targets
from PyGPU._runtime.arguments import as_list, extent, integer, is_gpuarray, require_array
from PyGPU._runtime.capabilities import capabilities
from PyGPU._runtime.devices import (
    are_several,
    clear_context_caches,
    context_dependent_memoize,
    in_order,
    on_device_of_first,
    order_after,
    record_event,
)
from PyGPU._runtime.encoding import encoded, encoded_word, in_text
from PyGPU._runtime.exceptions import CompileError, CompilerMissing, warn
from PyGPU._runtime.installation import PACKAGE, include_root
from PyGPU._runtime.rebuilding import Rebuilt, loads_later
from PyGPU._runtime.targets import core, runtime_library

__all__ = [
    "PACKAGE",
    "CompileError",
    "CompilerMissing",
    "Rebuilt",
    "are_several",
    "as_list",
    "capabilities",
    "clear_context_caches",
    "context_dependent_memoize",
    "core",
    "encoded",
    "encoded_word",
    "errors",
    "extent",
    "hooks",
    "in_order",
    "in_text",
    "include_root",
    "integer",
    "is_gpuarray",
    "loads_later",
    "on_device_of_first",
    "order_after",
    "record_event",
    "require_array",
    "runtime_library",
    "settings",
    "state",
    "targets",
    "warn",
]
