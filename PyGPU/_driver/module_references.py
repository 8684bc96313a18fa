"""The references of a module: how what they are bound to reaches its kernels.

In the module, a reference is a variable that the header device/texture_references.h declares: the
handle of a texture or surface object, and what it was declared to be. What is bound is looked at
when a function of the module is launched: the object is made then, and its handle written in the
order of that launch's stream.
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
from PyGPU._runtime import core, errors, on_device, streams

if TYPE_CHECKING:
    from PyGPU._types import ArgTypes, Block, Grid, StreamLike

_LAYOUT = struct.Struct("<QH5Bx")
_TEXTURE, _SURFACE = 0x5478, 0x5378  # the header's marks
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
    """The references of a module, and the order of their changes among its launches."""

    def __init__(self, module: core._Module) -> None:
        self._module = module
        self._known: dict[str, tuple[Reference, int]] = {}  # and where the handle is written
        self._lock = threading.RLock()  # handlers of signals may launch, too
        self._used: list[StreamLike] = []  # of launches since the last change, two for several
        self._is_used_anywhere = False  # in graphs, or on streams of other libraries
        self._written: core.cudaEvent_t | None = None  # until it is reached
        self._written_on: StreamLike = None
        self._replaced: list[object] = []  # objects that kernels before _written may still read

    def function(
        self,
        module: core._Module,
        name: str,
        signature: Sequence[tuple[str, str, int]] | None,
    ) -> Function:
        """A kernel of the module, whose launches look after the references."""
        function = ReferringFunction(module, name, signature)
        function._references = self
        return function

    def texture(self, name: str) -> TextureReference:
        return self._get(name, TextureReference)

    def surface(self, name: str) -> SurfaceReference:
        return self._get(name, SurfaceReference)

    def _get(self, name: str, kind: type[_R]) -> _R:
        with self._lock:
            if name not in self._known:
                self._known[name] = self._found(name)
            reference = self._known[name][0]
        if not isinstance(reference, kind):
            raise errors.LogicError(f"{name!r} is a {type(reference).__name__}")
        return reference

    def _found(self, name: str) -> tuple[Reference, int]:
        """The reference that a variable of the module is, and its address."""
        address, nbytes = self._module.get_global(name)
        if nbytes == _LAYOUT.size:
            data = np.empty(nbytes, np.uint8)
            memcpy_dtoh(data, address)
            _, mark, *declared = _LAYOUT.unpack(data.tobytes())
            if mark in (_TEXTURE, _SURFACE):
                made = TextureReference() if mark == _TEXTURE else SurfaceReference()
                made._declare(Declared(*declared))
                return made, address
        raise errors.LogicError(f"{name!r} is a variable, but no texture or surface reference")

    def before_launch(self, stream: StreamLike, needed: Iterable[Reference] = ()) -> None:
        """Bring the module's variables up to date, in the order of a launch that follows.

        Raises
        ------
        LogicError
            For a reference in `needed` that is bound to nothing, and for what cannot be read in
            the way that it is declared.
        """
        for reference in needed:
            _require_reference("texrefs", reference)
            if reference._source is None:
                raise errors.LogicError(f"texrefs: {self._name(reference)} is bound to nothing")
        with self._lock:
            changed = [name for name, (one, _) in [*self._known.items()] if one._is_changed]
            if core._is_captured(stream):
                return self._before_recorded(changed)
            if self._written is not None:
                self._wait(stream, self._written)
            if not (stream is None or isinstance(stream, core.cudaStream_t)):
                self._is_used_anywhere = True
            if changed:
                # Textures of memory are made on the current device.
                with on_device(self._module.device):
                    self._write(changed, stream)
            elif not any(_same(stream, one) for one in self._used):
                self._used = [*self._used[:1], stream]

    def _before_recorded(self, changed: list[str]) -> None:
        """The launch is recorded into a graph, which reads what is bound when it is launched."""
        if changed:
            raise errors.LogicError(
                f"the reference {changed[0]!r} was bound since the last launch, and a capture "
                "records no binding: launch a function of the module once before the capture"
            )
        if self._written is not None:
            written = core._beside_captures(core.cudaEventSynchronize, self._written)
            errors.check(written, "cudaEventSynchronize")
            self._written = None
            self._replaced.clear()
        self._is_used_anywhere = True
        core._keep_for_graph(self)

    def _name(self, reference: Reference) -> str:
        names = [name for name, (one, _) in self._known.items() if one is reference]
        return f"the {type(reference).__name__} {names[0]!r}" if names else "a reference"

    def _wait(self, stream: StreamLike, written: core.cudaEvent_t) -> None:
        """Later work on the stream comes after what was written last."""
        status = core._beside_captures(core.cudaEventQuery, written)
        if status == core.cudaErrorNotReady:
            core.cudaGetLastError()
            if not _same(stream, self._written_on):
                errors.check(core.cudaStreamWaitEvent(stream, written), "cudaStreamWaitEvent")
            return
        errors.check(status, "cudaEventQuery")
        self._written = None
        self._replaced.clear()

    def _write(self, changed: list[str], stream: StreamLike) -> None:
        """Write the handles after all launches that were, and before those on the stream."""
        made = {}
        for name in changed:
            try:
                its = self._known[name][0]._made()
            except errors.LogicError as error:
                raise errors.LogicError(f"the reference {name!r}: {error}") from None
            if its._device != self._module.device:
                raise errors.LogicError(
                    f"the reference {name!r}: it is bound to memory of device {its._device}, but "
                    f"its module was loaded on device {self._module.device}"
                )
            made[name] = its
        if len(self._used) > 1 or self._is_used_anywhere:
            _wait_for_launches(self._module.device, self._is_used_anywhere)
        elif self._used and not _same(stream, self._used[0]):
            self._follow(stream, self._used[0])
        self._used = [stream]
        for name, its in made.items():
            reference, address = self._known[name]
            data = np.array([int(its)], np.uint64)
            memcpy_htod_async(address, data, stream)
            self._replaced.append((reference._object, data))
            reference._object, reference._is_changed = its, False
        self._written, self._written_on = streams.recorded(stream), stream

    def _follow(self, stream: StreamLike, earlier: StreamLike) -> None:
        """Later work on the stream comes after what is on the other one now."""
        try:
            streams.order_after(stream, earlier)
        except ValueError:  # that was destroyed, when the null stream came to wait for its rest
            _wait_for_launches(self._module.device, False)

    def __del__(self) -> None:
        # Memoized kernels last until modules lose their names.
        if sys is None or sys.is_finalizing():
            return
        objects = [one._object for one, _ in self._known.values() if one._object]
        if objects:
            _let_go(self._module.device, self._is_used_anywhere, [*objects, *self._replaced])


def _wait_for_launches(device: int, anywhere: bool) -> None:
    """Until kernels on their way have read what they read through the references; `anywhere`: on
    streams, too, that are not known."""
    if anywhere:
        with on_device(device):
            errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")
    else:
        errors.check(core._wait_for_work(device), "cudaStreamSynchronize")


def _let_go(device: int, anywhere: bool, objects: list[object]) -> None:
    """Kernels on their way read through the objects that go now."""
    if core._wait_meets_capture(device):
        core._postpone(core._AtEnd(partial(_let_go, device, anywhere, objects)))
        return
    with contextlib.suppress(errors.Error):  # of that work, and reported elsewhere
        _wait_for_launches(device, anywhere)


def _same(one: StreamLike, other: StreamLike) -> bool:
    return one is other or (isinstance(one, int) and isinstance(other, int) and one == other)
