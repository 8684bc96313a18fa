"""References of a module: launches write the handles of bound objects into the module's variables.

In the module, a reference is a variable declared in device/texture_references.h: the handle of a
texture or surface object, and the declaration. A launch of one of the module's functions makes the
objects of changed bindings and writes their handles in the order of the launch's stream.
"""

from __future__ import annotations

import contextlib
import struct
import sys
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from PyGPU._driver.copies import memcpy_dtoh, memcpy_htod_async
from PyGPU._driver.module import Function
from PyGPU._driver.references import Declared, Reference, SurfaceReference, TextureReference
from PyGPU._runtime import core, docstrings, errors, order_after, record_event

if TYPE_CHECKING:
    from PyGPU._types import ArgTypes, Block, Grid, StreamLike

_LAYOUT = struct.Struct("<QH5Bx")
_TEXTURE, _SURFACE = 0x5478, 0x5378  # marks of the variables, as in the header
_R = TypeVar("_R", TextureReference, SurfaceReference)


class ReferringFunction(Function):
    """A kernel of a module with texture or surface references."""

    _references: References
    _texrefs: tuple[Reference, ...] = ()

    def __call__(
        self, *args: Any, texrefs: Sequence[Reference] = (), **keywords: Any
    ) -> float | None:
        self._references.before_launch(keywords.get("stream"), texrefs)
        return super().__call__(*args, **keywords)

    def prepare(self, arg_types: ArgTypes, texrefs: Sequence[Reference] = ()) -> Function:
        self._texrefs = ()
        return super().prepare(arg_types, texrefs)

    def param_set_texref(self, texref: Reference) -> None:
        _require_reference("texref", texref)
        self._texrefs += (texref,)

    def prepared_call(self, grid: Grid, block: Block, /, *args: Any, shared_size: int = 0) -> None:
        self._references.before_launch(None, self._texrefs)
        super().prepared_call(grid, block, *args, shared_size=shared_size)

    def prepared_async_call(
        self, grid: Grid, block: Block, stream: StreamLike, /, *args: Any, shared_size: int = 0
    ) -> None:
        self._references.before_launch(stream, self._texrefs)
        super().prepared_async_call(grid, block, stream, *args, shared_size=shared_size)


def _require_reference(name: str, given: object) -> None:
    if not isinstance(given, (TextureReference, SurfaceReference)):
        raise TypeError(f"{name}: expected a TextureReference, got {given!r}")


class References:
    """References of a module, and the order of their changes between its launches."""

    def __init__(self, module: core._Module) -> None:
        self._module = module
        self._known: dict[str, tuple[Reference, int]] = {}  # name: (reference, handle's address)
        self._lock = threading.RLock()  # reentrant: a signal handler may launch, too
        # Streams of the launches since the last change; two entries mean two or more.
        self._used: list[StreamLike] = []
        self._is_used_anywhere = False  # launched in graphs, or on streams of other libraries
        self._written: core.cudaEvent_t | None = None  # after the last write; None once reached
        self._written_on: StreamLike = None
        self._replaced: list[object] = []  # objects that kernels before _written may still read

    def function(
        self,
        module: core._Module,
        name: str,
        signature: Sequence[tuple[str, str, int]] | None,
    ) -> Function:
        """Return a kernel of the module, whose launches update the references."""
        function = ReferringFunction(module, name, signature)
        function._references = self
        return function

    def texture(self, name: str, lowered: str) -> TextureReference:
        """Return the texture reference with a name in the program and a name in the image."""
        return self._get(name, lowered, TextureReference)

    def surface(self, name: str, lowered: str) -> SurfaceReference:
        """Return the surface reference with a name in the program and a name in the image."""
        return self._get(name, lowered, SurfaceReference)

    def _get(self, name: str, lowered: str, kind: type[_R]) -> _R:
        with self._lock:
            if lowered not in self._known:
                self._known[lowered] = self._found(name, lowered)
            reference = self._known[lowered][0]
        if not isinstance(reference, kind):
            raise errors.LogicError(
                f"name={name!r}: a {type(reference).__name__}, expected a {kind.__name__}"
            )
        return reference

    def _found(self, name: str, lowered: str) -> tuple[Reference, int]:
        """Return the reference behind a variable of the module, and the variable's address."""
        address, nbytes = self._module.get_global(lowered)
        if nbytes == _LAYOUT.size:
            data = np.empty(nbytes, np.uint8)
            memcpy_dtoh(data, address)
            _, mark, *declared = _LAYOUT.unpack(data.tobytes())
            if mark in (_TEXTURE, _SURFACE):
                made = TextureReference() if mark == _TEXTURE else SurfaceReference()
                made._declare(Declared(*declared))
                return made, address
        raise errors.LogicError(
            f"name={name!r}: a variable, but not a texture or surface reference"
        )

    def before_launch(self, stream: StreamLike, needed: Iterable[Reference] = ()) -> None:
        """Write changed bindings to the module's variables, before a launch on a stream.

        :raises LogicError: If a reference in `needed` is not bound, or if a binding does not fit
            its declaration.
        """
        for reference in needed:
            _require_reference("texrefs", reference)
            if reference._source is None:
                raise errors.LogicError(f"texrefs: {self._name(reference)} is not bound")
        with self._lock:
            changed = [name for name, (one, _) in [*self._known.items()] if one._is_changed]
            if core._is_captured(stream):
                return self._before_recorded(changed)
            if self._written is not None:
                self._wait(stream, self._written)
            if not (stream is None or isinstance(stream, core.cudaStream_t)):
                self._is_used_anywhere = True
            if changed:
                # TextureObject uses the current device for plain memory.
                with core.device(self._module.device):
                    self._write(changed, stream)
            elif not any(_same(stream, one) for one in self._used):
                self._used = [*self._used[:1], stream]

    def _before_recorded(self, changed: list[str]) -> None:
        """Check a launch that is captured; the graph reads the bindings at its own launch."""
        if changed:
            raise errors.LogicError(
                f"the reference {changed[0]!r} was bound after the last launch, and a graph cannot "
                "contain a binding: launch a function of the module once before the capture"
            )
        if self._written is not None:
            written = core._in_relaxed_capture_mode(core.cudaEventSynchronize, self._written)
            errors.check(written, "cudaEventSynchronize")
            self._written = None
            self._replaced.clear()
        self._is_used_anywhere = True
        core._keep_for_graph(self)

    def _name(self, reference: Reference) -> str:
        names = [name for name, (one, _) in self._known.items() if one is reference]
        return f"the {type(reference).__name__} {names[0]!r}" if names else "a reference"

    def _wait(self, stream: StreamLike, written: core.cudaEvent_t) -> None:
        """Order later work on the stream after the last write."""
        status = core._in_relaxed_capture_mode(core.cudaEventQuery, written)
        if status == core.cudaErrorNotReady:
            core.cudaGetLastError()
            if not _same(stream, self._written_on):
                errors.check(core.cudaStreamWaitEvent(stream, written), "cudaStreamWaitEvent")
            return
        errors.check(status, "cudaEventQuery")
        self._written = None
        self._replaced.clear()

    def _write(self, changed: list[str], stream: StreamLike) -> None:
        """Write the handles after all earlier launches and before later ones on the stream."""
        made = {}
        for name in changed:
            try:
                bound = self._known[name][0]._make_object()
            except errors.LogicError as error:
                raise errors.LogicError(f"the reference {name!r}: {error}") from None
            if bound._device != self._module.device:
                raise errors.LogicError(
                    f"the reference {name!r}: it is bound to memory of device {bound._device}, but "
                    f"its module was loaded on device {self._module.device}"
                )
            made[name] = bound
        if len(self._used) > 1 or self._is_used_anywhere:
            _wait_for_launches(self._module.device, self._is_used_anywhere)
        elif self._used and not _same(stream, self._used[0]):
            self._follow(stream, self._used[0])
        self._used = [stream]
        for name, bound in made.items():
            reference, address = self._known[name]
            data = np.array([int(bound)], np.uint64)
            memcpy_htod_async(address, data, stream)
            self._replaced.append((reference._object, data))
            reference._object, reference._is_changed = bound, False
        self._written, self._written_on = record_event(stream), stream

    def _follow(self, stream: StreamLike, earlier: StreamLike) -> None:
        """Order later work on the stream after the work that is on `earlier` now."""
        try:
            order_after(stream, earlier)
        except ValueError:  # `earlier` was destroyed; the null stream waits for its pending work
            _wait_for_launches(self._module.device, False)

    def __del__(self) -> None:
        # At exit, memoized kernels are freed after the globals of this module.
        if sys is None or sys.is_finalizing():
            return
        objects = [one._object for one, _ in self._known.values() if one._object]
        if objects:
            _release(self._module.device, self._is_used_anywhere, [*objects, *self._replaced])


def _wait_for_launches(device: int, anywhere: bool) -> None:
    """Wait until pending kernels have read the references; `anywhere`: also on unknown streams."""
    if anywhere:
        with core.device(device):
            errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")
    else:
        errors.check(core._wait_for_work(device), "cudaStreamSynchronize")


def _release(device: int, anywhere: bool, objects: list[object]) -> None:
    """Release objects after the pending kernels that read through them."""
    if core._wait_would_invalidate_capture(device):
        core._postpone(core._Finalizer(partial(_release, device, anywhere, objects)))
        return
    with contextlib.suppress(errors.Error):  # an error of that work is reported elsewhere
        _wait_for_launches(device, anywhere)


def _same(one: StreamLike, other: StreamLike) -> bool:
    return one is other or (isinstance(one, int) and isinstance(other, int) and one == other)


docstrings.complete(__name__)
