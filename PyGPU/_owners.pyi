"""Types of the compiled module's owners of host memory.

Only other stubs import this file: there is no module of this name.
"""

from typing_extensions import disjoint_base

from PyGPU._types import Int

@disjoint_base
class _MemoryOwner:
    @property
    def address(self) -> int: ...
    def close(self) -> bool: ...

def _page_locked(nbytes: Int, flags: Int) -> _MemoryOwner: ...
def _registered(holder: object, address: Int, nbytes: Int, flags: Int) -> _MemoryOwner: ...
def _opened(handle: bytes, flags: Int) -> _MemoryOwner: ...
