"""Types of the compiled module's launchers: kernels by expression, each on one device."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from typing_extensions import disjoint_base

from PyGPU._host import LibraryFunction, _Function
from PyGPU._types import AllocatorLike, DType, Int, StreamLike
from PyGPU.gpuarray import GPUArray

@disjoint_base
class _ElementwiseLauncher:
    def __init__(
        self,
        function: _Function,
        count: Int,
        vectors: Sequence[tuple[int, DType, bool]],
        many: Int,
    ) -> None: ...
    def set_batched(self, function: _Function) -> None: ...
    def launch(
        self, stream: StreamLike, arguments: tuple[Any, ...], is_checked: bool = False
    ) -> bool | None: ...
    def launch_over(
        self,
        stream: StreamLike,
        arguments: tuple[Any, ...],
        start: Int,
        stop: Int,
        step: Int,
        is_checked: bool = False,
    ) -> bool: ...

@disjoint_base
class _ReductionLauncher:
    def __init__(
        self,
        first: _Function,
        last: _Function,
        count: Int,
        vectors: Sequence[tuple[int, DType, bool]],
        dtype: DType,
        registers: Int,
        unroll: Int,
    ) -> None: ...
    @overload
    def launch(
        self,
        stream: StreamLike,
        arguments: tuple[Any, ...],
        out: GPUArray | None,
        allocator: AllocatorLike | None,
        wrap: Callable[[Any], Any] | None,
        is_checked: Literal[True],
    ) -> GPUArray: ...
    @overload
    def launch(
        self,
        stream: StreamLike,
        arguments: tuple[Any, ...],
        out: GPUArray | None,
        allocator: AllocatorLike | None,
        wrap: Callable[[Any], Any] | None,
        is_checked: bool = False,
    ) -> GPUArray | None: ...

@disjoint_base
class _ScanLauncher:
    def __init__(
        self,
        function: _Function,
        dtype: DType,
        tile: Int,
        words: Int,
        threads: Int,
        delays: tuple[int, int, int],
    ) -> None: ...
    def launch(
        self, stream: StreamLike, source: Any, target: Any, is_checked: bool = False
    ) -> bool: ...

def _open_library(path: str) -> int: ...
def _library_symbol(handle: Int, name: str) -> int: ...
def _library_exports(handle: Int) -> list[tuple[str, list[Any], tuple[Any, ...], int]]: ...
def _library_function(
    name: str,
    signature: str,
    address: Int,
    trampoline: Int,
    parameters: list[tuple[Any, ...]],
    result: tuple[str, int],
    errors: bool,
) -> LibraryFunction: ...
