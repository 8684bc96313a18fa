"""Enumerations and flags of the driver API: PyCUDA's names, CUDA's numbers.

Python takes milliseconds to make all of them, so most are imported at their first use.
"""

from __future__ import annotations

from PyGPU._driver.common_enums import *  # noqa: F403
from PyGPU._driver.enumeration import _Enumeration as _Enumeration
from PyGPU._driver.enumeration import _listed as _listed
from PyGPU._runtime import hooks

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TRSF_SRGB = 16
TR_DEFAULT = -1

#: Enumerations that are imported at their first use.
_DEFERRED = hooks.by_name(
    {
        "PyGPU._driver.device_attributes": "device_attribute",
        "PyGPU._driver.late_enums": "address_mode array_cubemap_face array_format compute_mode "
        "event_flags filter_mode func_cache function_attribute graphics_register_flags "
        "jit_fallback jit_input_type jit_option jit_target limit mem_attach_flags memory_type "
        "pointer_attribute shared_config",
    }
)
__getattr__, __dir__ = hooks.late_names(globals(), _DEFERRED)
