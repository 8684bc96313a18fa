"""For type checkers: the names of PyGPU.tools, some of which are imported at first use."""

from collections.abc import Callable, Iterator

from PyGPU._driver.bitlog import bitlog2 as bitlog2
from PyGPU._driver.context import Context
from PyGPU._driver.default_context import make_default_context as make_default_context
from PyGPU._driver.device import Device
from PyGPU._driver.occupancy import DeviceData as DeviceData
from PyGPU._driver.occupancy import OccupancyRecord as OccupancyRecord
from PyGPU._driver.page_locked_pool import PageLockedAllocator as PageLockedAllocator
from PyGPU._driver.page_locked_pool import PageLockedMemoryPool as PageLockedMemoryPool
from PyGPU._driver.page_locked_pool import PooledHostAllocation as PooledHostAllocation
from PyGPU._driver.pools import DebugMemoryPool as DebugMemoryPool
from PyGPU._driver.pools import DeviceMemoryPool as DeviceMemoryPool
from PyGPU._driver.pools import PooledDeviceAllocation as PooledDeviceAllocation
from PyGPU._kernels.types import Argument as Argument
from PyGPU._kernels.types import ScalarArg as ScalarArg
from PyGPU._kernels.types import VectorArg as VectorArg
from PyGPU._kernels.types import base_dtype_to_ctype as base_dtype_to_ctype
from PyGPU._kernels.types import dtype_to_ctype as dtype_to_ctype
from PyGPU._kernels.types import get_arg_type as get_arg_type
from PyGPU._kernels.types import get_or_register_dtype as get_or_register_dtype
from PyGPU._kernels.types import parse_c_arg as parse_c_arg
from PyGPU._kernels.types import register_dtype as register_dtype
from PyGPU._runtime.memoize import clear_context_caches as clear_context_caches
from PyGPU._runtime.memoize import context_dependent_memoize as context_dependent_memoize
from PyGPU._runtime.memoize import (
    context_dependent_memoized_functions as context_dependent_memoized_functions,
)
from PyGPU._types import P, R

def get_default_device(default: int = 0) -> Device: ...
def init_cuda_context_fixture() -> Iterator[Context]: ...
def mark_cuda_test(inner: Callable[P, R]) -> Callable[P, R]: ...
