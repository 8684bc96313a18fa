"""Arrays that several processes use: ``share`` and the handshake between the processes.

The runtime's IPC calls share the memory and an event. The runtime does not report whether another
process still uses the memory, or whether the owner still runs. File locks in a private folder show
both, because the system releases the locks of a process that ends:

- The owner locks the file ``owner`` as long as it runs.
- Another process appends a byte to the array's file when it loads a pickle, and holds a shared lock
  on the file as long as it uses the array. The owner frees the memory when the file has one byte
  for each pickle, or the pickles were discarded, and no process holds a lock.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import itertools
import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._runtime import core, docstrings, errors, hooks, require_array

if TYPE_CHECKING:
    from typing_extensions import Self

    from PyGPU._driver import Device, Event
    from PyGPU._driver.memory import DeviceAllocation
    from PyGPU._types import Order, StreamLike

__all__ = ["share", "shareable"]

# The runtime exports blocks of 2 MiB. Another array in such a block would be shared as well.
_BLOCK = 2 << 20


def shareable(nbytes: int) -> DeviceAllocation:
    """Allocate memory that :func:`share` shares without a copy, for ``allocator=``.

    :param nbytes: Number of bytes; a multiple of 2 MiB is allocated.
    :returns PyGPU.driver.DeviceAllocation: Memory that belongs to no pool.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.zeros(1000, "float32", allocator=gpuarray.shareable)
    >>> gpuarray.share(a).array is a
    True
    """
    from PyGPU._driver import memory

    return memory.mem_alloc(-(-nbytes // _BLOCK) * _BLOCK)


@functools.lru_cache(1)
def _folder_of(process: int) -> Path:
    """Make the folder of a process's shared arrays, and lock it while the process runs."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="PyGPU-share-"))
    lock = os.open(folder / "owner", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.lockf(lock, fcntl.LOCK_EX)
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


_numbers = itertools.count(1)


def _is_locked(path: Path, kind: int) -> bool:
    """Report whether a lock of another process conflicts with a lock of this kind."""
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, kind | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


class _Handle(NamedTuple):
    """Handle by which another process uses the array."""

    process: int
    path: str
    bus_id: str
    memory: bytes
    event: bytes
    offset: int  # bytes from the start of the memory to the first element
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _Owned:
    """A shared array in the process that owns it."""

    def __init__(
        self, array: core.GPUArray, device: Device, start: int, stream: StreamLike
    ) -> None:
        from PyGPU._driver import Event, enums, memory

        flags = enums.event_flags
        self.array, self.process = array, os.getpid()
        self.event = Event(flags.INTERPROCESS | flags.DISABLE_TIMING).record(stream)
        self.path = _folder_of(self.process) / str(next(_numbers))
        self.path.touch()
        self.sent = 0  # number of pickles
        self.handle = _Handle(
            self.process,
            str(self.path),
            device.pci_bus_id(),
            bytes(memory.mem_get_ipc_handle(start)),
            bytes(self.event.ipc_handle()),
            array.ptr - start,
            array.dtype,
            array.shape,
            array.strides,
        )

    def check(self) -> None:
        """Do nothing: this process owns the array."""

    def send(self) -> _Handle:
        self.sent += 1
        return self.handle

    def is_used(self) -> bool:
        """Report whether another process uses the array, or has not yet loaded its pickle."""
        try:
            return self.path.stat().st_size < self.sent or _is_locked(self.path, fcntl.LOCK_EX)
        except FileNotFoundError:  # another thread has released the array
            return False


#: Arrays that this process owns, by the paths of their files.
_owned: weakref.WeakValueDictionary[str, _Owned] = weakref.WeakValueDictionary()
#: Arrays that this process has released and other processes still use.
_still_used: list[_Owned] = []


def _release(owned: _Owned | None = None) -> bool:
    """Free `owned` and all released arrays that no process uses; return False if there is none."""
    if owned:
        _still_used.append(owned)
    unused = [one for one in list(_still_used) if one.process != os.getpid() or not one.is_used()]
    for one in unused:
        with contextlib.suppress(ValueError):  # another thread has removed it
            _still_used.remove(one)
        if one.process == os.getpid():
            one.path.unlink(missing_ok=True)
    return bool(unused)


hooks.reclaimers.append(lambda device: _release())


class _Opened:
    """A shared array in a process that does not own it."""

    def __init__(self, handle: _Handle) -> None:
        self.handle = handle
        self._held: dict[str, Any] = {}  # closed by a finalizer: the memory, then the file
        self._event: Event | None = None
        file = -1
        try:
            file = os.open(handle.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            os.write(file, b".")
            self._held["file"] = file
        except OSError:
            # Only `check` raises: a process pool would wait forever if a pickle failed to load.
            if file >= 0:
                os.close(file)
        weakref.finalize(self, _close, self._held)

    def check(self) -> None:
        handle = self.handle
        owner = Path(handle.path).with_name("owner")
        runs = owner.exists() and _is_locked(owner, fcntl.LOCK_SH)
        if not runs or not self._held:
            reason = "has released it" if runs else "has ended"
            raise errors.LogicError(
                f"share: process {handle.process}, which owns the array of shape {handle.shape}, "
                + reason
            )

    def send(self) -> _Handle:
        raise TypeError("share: only the process that owns the array can pickle it")

    def _open(self) -> Event:
        from PyGPU._driver import Device, Event, memory

        handle = self.handle
        buses = [Device(ordinal).pci_bus_id() for ordinal in range(Device.count())]
        if handle.bus_id not in buses:
            raise errors.LogicError(
                f"share: the array is on the device {handle.bus_id}, which is not among the "
                f"devices of this process, {buses}"
            )
        with core.device(buses.index(handle.bus_id)):
            event = Event.from_ipc_handle(handle.event)
            self._held["memory"] = memory.IPCMemoryHandle(handle.memory)
            errors.check(core.cudaStreamWaitEvent(None, event), "cudaStreamWaitEvent")
        return event

    @property
    def event(self) -> Event:
        self.check()
        if self._event is None:
            self._event = self._open()
        return self._event

    @property
    def array(self) -> core.GPUArray:
        handle, _ = self.handle, self.event
        address = int(self._held["memory"]) + handle.offset
        return core.GPUArray(
            handle.shape, handle.dtype, base=self, gpudata=address, strides=handle.strides
        )


def _close(held: dict[str, Any]) -> None:
    held.pop("memory", None)
    file = held.pop("file", None)
    if file is not None:
        os.close(file)  # releases the lock


class SharedArray:
    """An array that several processes use, made by :func:`share`.

    A pickle of this object contains no elements: the process that loads it uses the same memory.
    Only the owner, the process that called :func:`share`, can pickle the object. The memory is
    freed when no process uses it and every pickle was loaded or discarded by `close`, or when the
    owner ends.

    The work of different processes is not ordered automatically. The writer calls `record` and
    sends the reader a message; the reader then calls `wait`.
    """

    def __init__(self, use: _Owned | _Opened) -> None:
        self._use: _Owned | _Opened | None = use
        self._closed = weakref.ref(use)
        self._release = weakref.finalize(self, _release, use if isinstance(use, _Owned) else None)

    def _used(self) -> _Owned | _Opened:
        if self._use is None:
            raise errors.LogicError("share: the shared array was closed")
        return self._use

    @property
    def array(self) -> core.GPUArray:
        """The array, in the shared memory.

        The first access in another process makes the null stream wait for the copy of `share`.
        Raise LogicError if the owner has ended or has released the array, or if this process does
        not see the device.
        """
        return self._used().array

    @property
    def is_owner(self) -> bool:
        """True if this process owns the memory."""
        return isinstance(self._used(), _Owned)

    def check(self) -> Self:
        """Check that the process that owns the array still runs.

        :returns SharedArray: This object.
        :raises LogicError: The owner has ended or has released the array, or the shared array was
            closed.
        """
        self._used().check()
        return self

    def record(self, stream: StreamLike = None) -> Self:
        """Record the work that a stream has now; `wait` waits for this work, in every process.

        :param stream: Stream that has the work; the null stream by default.
        :returns SharedArray: This object.
        """
        self._used().event.record(stream)
        return self

    def wait(self, stream: StreamLike = None) -> Self:
        """Make later work on a stream wait for the last `record` of any process.

        :param stream: Stream of the later work; the null stream by default.
        :returns SharedArray: This object.
        """
        event = self._used().event
        errors.check(core.cudaStreamWaitEvent(stream, event), "cudaStreamWaitEvent")
        return self

    def close(self, discard_pickles: bool = False) -> None:
        """End this process's use. An array from `array` keeps the memory until it is deleted.

        :param discard_pickles: True does not wait until pickles are loaded: one that is loaded
            later is of no use. A second `close` may discard the pickles too.
        """
        use, self._use = self._closed(), None
        if discard_pickles and isinstance(use, _Owned):
            use.sent = 0
        self._release()
        _release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _loaded, (self._used().send(),)

    def __repr__(self) -> str:
        if self._use is None:
            return "<SharedArray, closed>"
        handle = self._use.handle
        owner = "owned" if self.is_owner else f"of process {handle.process}"
        return f"<SharedArray {owner}: {handle.dtype} {handle.shape} on {handle.bus_id}>"


def _loaded(handle: _Handle) -> SharedArray:
    if handle.process != os.getpid():
        return SharedArray(_Opened(handle))
    owned = _owned.get(handle.path)
    if owned is None:
        raise errors.LogicError(f"share: the array of shape {handle.shape} was released")
    owned.sent -= 1
    return SharedArray(owned)


def _start_of(a: core.GPUArray) -> int | None:
    """Return the start of the array's allocation if the runtime can share it."""
    from PyGPU._driver import memory

    try:
        start, _ = memory.mem_get_address_range(a.ptr)
        memory.mem_get_ipc_handle(start)
        return start
    except errors.Error:
        core.cudaGetLastError()
        return None


def share(a: core.GPUArray, stream: StreamLike = None) -> SharedArray:
    """Make an array that other processes can use without a copy.

    :param a: Array to share. The array is copied, unless its memory comes from the allocator
        `shareable` or from ``PyGPU.driver.mem_alloc``: memory of pools cannot be shared.
    :param stream: Stream on which the array was written, and is copied; the null stream by default.
    :returns: Object that can be pickled, for ``multiprocessing`` and pipes. Keep a reference until
        the other processes have loaded it.
    :raises TypeError: `a` is not a GPUArray.
    :raises ValueError: `a` has no elements.

    Examples
    --------
    One process pickles the shared array and sends it:

    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> shared = gpuarray.share(gpuarray.to_gpu(np.arange(4.0)))
    >>> shared.array
    array([0., 1., 2., 3.])

    The other process loads the pickle, and uses ``shared.array``.
    """
    from PyGPU._driver import Device

    a = require_array("a", a)
    if not a.size:
        raise ValueError(f"share: a of shape {a.shape}: expected an array with elements")
    _release()
    ordinal: Any = a.device
    with core.device(ordinal):
        start = _start_of(a)
        if start is None:
            order: Order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
            copied = core.GPUArray(a.shape, a.dtype, shareable, order=order)
            copied.set_async(a, stream)
            a, start = copied, int(copied.gpudata)
        owned = _Owned(a, Device(ordinal), start, stream)
    _owned[owned.handle.path] = owned
    return SharedArray(owned)


docstrings.complete(__name__)
