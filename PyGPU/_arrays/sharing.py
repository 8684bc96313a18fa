"""Arrays that several processes use: ``share`` and the handshake between the processes.

The memory and an event are shared by the runtime's IPC calls. The runtime does not tell an owner
whether others still use its memory, nor the others whether the owner still runs. Locks of files in
a private folder do, because the system releases the locks of a process that ends:

- The owner holds a lock of the file ``owner`` as long as it runs.
- Each other process holds a shared lock of the array's file as long as it uses the array, and has
  added a byte to it. The owner frees the memory when as many bytes are there as pickles were made,
  and nobody holds a lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._driver import Device, Event, enums, memory
from PyGPU._runtime import core, errors, require_array

if TYPE_CHECKING:
    from typing_extensions import Self

    from PyGPU._types import Order, StreamLike

# The runtime exports whole blocks of 2 MiB: a block with other arrays would be shared with them.
_BLOCK = 2 << 20


def shareable(nbytes: int) -> memory.DeviceAllocation:
    """Allocate memory that :func:`share` shares without a copy, for ``allocator=``.

    Parameters
    ----------
    nbytes : int
        Number of bytes; a multiple of 2 MiB is allocated.

    Returns
    -------
    PyGPU.driver.DeviceAllocation
        Memory of its own, not from a pool.

    Examples
    --------
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.zeros(1000, "float32", allocator=gpuarray.shareable)
    >>> gpuarray.share(a).array is a
    True
    """
    return memory.mem_alloc(-(-nbytes // _BLOCK) * _BLOCK)


class _Folder:
    """The folder of this process's shared arrays, and the lock that shows that it runs."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="PyGPU-share-"))
        self.process = os.getpid()
        self._count = 0
        lock = os.open(self.path / "owner", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.lockf(lock, fcntl.LOCK_EX)
        weakref.finalize(self, _remove, str(self.path), self.process, lock)

    def new_file(self) -> Path:
        self._count += 1
        path = self.path / str(self._count)
        path.touch()
        return path


def _remove(path: str, process: int, lock: int) -> None:
    os.close(lock)
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


_folder: _Folder | None = None


def _own_folder() -> _Folder:
    global _folder
    if _folder is None or _folder.process != os.getpid():
        _folder = _Folder()
    return _folder


def _is_locked(path: Path, kind: int) -> bool:
    """Report whether a lock of another process excludes one of this kind."""
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
        flags = enums.event_flags
        self.array, self.process = array, os.getpid()
        self.event = Event(flags.INTERPROCESS | flags.DISABLE_TIMING).record(stream)
        self.path = _own_folder().new_file()
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
        return self.path.stat().st_size < self.sent or _is_locked(self.path, fcntl.LOCK_EX)


#: Arrays of this process by their files, and those that only other processes use.
_owned: weakref.WeakValueDictionary[str, _Owned] = weakref.WeakValueDictionary()
_kept: list[_Owned] = []


def _release(owned: _Owned | None = None) -> None:
    """Free an array and those that were kept, except those that other processes use."""
    there = [one for one in (*_kept, owned) if one is not None and one.process == os.getpid()]
    _kept[:] = [one for one in there if one.path.exists() and one.is_used()]
    for one in there:
        if one not in _kept:
            one.path.unlink(missing_ok=True)


class _Opened:
    """A shared array in a process that does not own it."""

    def __init__(self, handle: _Handle) -> None:
        self.handle = handle
        self._held: dict[str, Any] = {}  # what a finalizer closes: the memory, then the file
        self._event: Event | None = None
        file = -1
        try:
            file = os.open(handle.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            os.write(file, b".")
            self._held["file"] = file
        except OSError:
            # `check` raises. A pickle must load: a pool would wait forever for one that does not.
            if file >= 0:
                os.close(file)
        weakref.finalize(self, _close, self._held)

    def check(self) -> None:
        handle = self.handle
        owner = Path(handle.path).with_name("owner")
        runs = owner.exists() and _is_locked(owner, fcntl.LOCK_SH)
        if not runs or not self._held:
            what = "has released it" if runs else "has ended"
            raise errors.LogicError(
                f"share: process {handle.process}, which owns the array of shape {handle.shape}, "
                + what
            )

    def send(self) -> _Handle:
        raise TypeError("share: expected the process that owns the array to send it")

    def _open(self) -> Event:
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
        os.close(file)  # which releases the lock


class SharedArray:
    """An array that several processes use, made by :func:`share`.

    Its pickle holds no elements: the process that loads it uses the same memory, as long as it
    keeps an array of it. Only the process that made it can pickle it. The memory is freed when no
    process uses it any more and every pickle was loaded, or when its owner ends.

    Work of one process is not in order with that of another by itself: the writer calls `record`
    and tells the reader by a message, and the reader calls `wait`.
    """

    def __init__(self, use: _Owned | _Opened) -> None:
        self._use: _Owned | _Opened | None = use
        self._release = weakref.finalize(self, _release, use if isinstance(use, _Owned) else None)

    def _used(self) -> _Owned | _Opened:
        if self._use is None:
            raise errors.LogicError("share: the shared array was closed")
        return self._use

    @property
    def array(self) -> core.GPUArray:
        """The array, in memory that all its processes use.

        The first access in another process makes the null stream wait for the copy of `share`.
        LogicError if the owner has ended or has released the array, or if this process does not
        see the device.
        """
        return self._used().array

    @property
    def is_owner(self) -> bool:
        """True if this process owns the memory."""
        return isinstance(self._used(), _Owned)

    def check(self) -> Self:
        """Check that the process that owns the array still runs.

        Returns
        -------
        SharedArray
            This object.

        Raises
        ------
        LogicError
            The owner has ended or has released the array, or the shared array was closed.
        """
        self._used().check()
        return self

    def record(self, stream: StreamLike = None) -> Self:
        """Mark the work that is on a stream now as what `wait` waits for, in every process.

        Parameters
        ----------
        stream : Stream, optional
            Stream of the work; the null stream by default.

        Returns
        -------
        SharedArray
            This object.
        """
        self._used().event.record(stream)
        return self

    def wait(self, stream: StreamLike = None) -> Self:
        """Make later work on a stream wait for the last `record` of any process.

        Parameters
        ----------
        stream : Stream, optional
            Stream of the later work; the null stream by default.

        Returns
        -------
        SharedArray
            This object.
        """
        event = self._used().event
        errors.check(core.cudaStreamWaitEvent(stream, event), "cudaStreamWaitEvent")
        return self

    def close(self) -> None:
        """End this process's use. Arrays from `array` keep the memory as long as they exist."""
        self._use = None
        self._release()

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
        whose = "owned" if self.is_owner else f"of process {handle.process}"
        return f"<SharedArray {whose}: {handle.dtype} {handle.shape} on {handle.bus_id}>"


def _loaded(handle: _Handle) -> SharedArray:
    if handle.process != os.getpid():
        return SharedArray(_Opened(handle))
    owned = _owned[handle.path]
    owned.sent -= 1
    return SharedArray(owned)


def _start_of(a: core.GPUArray) -> int | None:
    """Return the start of the array's allocation if the runtime can share it."""
    try:
        start, _ = memory.mem_get_address_range(a.ptr)
        memory.mem_get_ipc_handle(start)
        return start
    except errors.Error:
        core.cudaGetLastError()
        return None


def share(a: core.GPUArray, stream: StreamLike = None) -> SharedArray:
    """Make an array that other processes use without a copy.

    Parameters
    ----------
    a : GPUArray
        Array to share. It is copied once, unless its memory is of the allocator `shareable` or of
        ``PyGPU.driver.mem_alloc``: memory of pools cannot be shared.
    stream : Stream, optional
        Stream on which the array was written, and is copied; the null stream by default.

    Returns
    -------
    SharedArray
        An object for ``multiprocessing``, pipes and everything else that pickles. Keep it until
        the other processes have loaded it.

    Raises
    ------
    TypeError
        `a` is no GPUArray.
    ValueError
        `a` has no elements.

    Examples
    --------
    One process sends the array, by any means that pickles:

    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> shared = gpuarray.share(gpuarray.to_gpu(np.arange(4.0)))
    >>> shared.array
    array([0., 1., 2., 3.])

    The other one loads it, and uses ``shared.array``.
    """
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
