# ruff: noqa: F403
"""For type checkers: the enumerations, most of which enums.py imports at first use."""

from PyGPU._driver.common_enums import *
from PyGPU._driver.device_attributes import *
from PyGPU._driver.enumeration import _Enumeration as _Enumeration
from PyGPU._driver.enumeration import _listed as _listed
from PyGPU._driver.late_enums import *

TRSA_OVERRIDE_FORMAT: int
TRSF_READ_AS_INTEGER: int
TRSF_NORMALIZED_COORDINATES: int
TRSF_SRGB: int
TR_DEFAULT: int
_DEFERRED: dict[str, str]

def __dir__() -> list[str]: ...
