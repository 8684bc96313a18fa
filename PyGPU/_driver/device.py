"""Devices and contexts. A context is a name for its device's primary context, the only one there
is; making and pushing one chooses the device for the calling thread."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING

from PyGPU._driver import enums
from PyGPU._runtime import core, errors, extent, integer, on_device, state

if TYPE_CHECKING:
    from PyGPU._types import Int

__all__ = [
    "Context",
    "Device",
    "get_driver_version",
    "get_version",
    "have_gl_ext",
    "init",
]


def init(flags: int = 0) -> None:
    """Check that there is a device. Nothing needs to be initialised: the runtime does it itself."""
    if flags != 0:
        raise errors.LogicError(f"init failed: flags={flags!r}: expected 0")
    state.require_device()


def _stated_version() -> int | None:
    """What PYGPU_STATED_CUDA_VERSION, such as 11.8, has the versions below be, for programs that
    leave out on CUDA 12 what PyGPU still does: references of textures and surfaces."""
    text = os.environ.get("PYGPU_STATED_CUDA_VERSION", "").strip()
    found = re.fullmatch(r"(\d{1,3})(?:\.(\d{1,2}))?", text)
    if text and not found:
        raise errors.LogicError(
            f"PYGPU_STATED_CUDA_VERSION={text!r}: expected a version such as 11.8"
        )
    return 1000 * int(found[1]) + 10 * int(found[2] or 0) if found else None


def get_version() -> tuple[int, int, int]:
    """(major, minor, revision) of the CUDA, or HIP, that PyGPU was built against, or as
    PYGPU_STATED_CUDA_VERSION states."""
    version = _stated_version()
    if version is None:
        version = errors.check(core.cudaRuntimeGetVersion(), "cudaRuntimeGetVersion")
    return version // 1000, version % 1000 // 10, version % 10


def get_driver_version() -> int:
    """The driver's version: 1000 * major + 10 * minor, or as PYGPU_STATED_CUDA_VERSION states."""
    stated = _stated_version()
    return (
        stated
        if stated is not None
        else errors.check(core.cudaDriverGetVersion(), "cudaDriverGetVersion")
    )


def have_gl_ext() -> bool:
    """False: PyGPU has no OpenGL interoperation."""
    return False


def attribute_number(attribute: Int | str) -> int:
    """An attribute, its number or its name as a number."""
    if isinstance(attribute, str):
        found = enums.device_attribute.names.get(attribute.upper())
        if found is None:
            raise errors.LogicError(f"Device.get_attribute failed: no attribute {attribute!r}")
        return found
    return integer("attribute", attribute)


class Device:
    """A device.

    Parameters
    ----------
    number : int or str
        Its ordinal, or its PCI bus id ("0000:3b:00.0").

    Raises
    ------
    LogicError
        Where there is no such device.
    """

    def __init__(self, number: Int | str) -> None:
        if isinstance(number, str):
            self._ordinal = errors.check(
                core.cudaDeviceGetByPCIBusId(number), f"Device({number!r})"
            )
            return
        ordinal = integer("Device", number)
        count = errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount")
        if not 0 <= ordinal < count:
            invalid = core.cudaError_t(101, f"Device({ordinal}): this computer has {count}")
            raise errors.exception_of("cudaSetDevice", invalid)
        self._ordinal = ordinal

    @staticmethod
    def count() -> int:
        """The number of devices."""
        count, status = core.cudaGetDeviceCount()
        if status and status != core.cudaErrorNoDevice:
            errors.check(status, "cudaGetDeviceCount")
        return count

    def name(self) -> str:
        return self._properties().name()

    def pci_bus_id(self) -> str:
        """ "dddd:bb:dd.f" """
        return errors.check(core.cudaDeviceGetPCIBusId(self._ordinal), "cudaDeviceGetPCIBusId")

    def compute_capability(self) -> tuple[int, int]:
        """(major, minor)"""
        properties = self._properties()
        return properties.major(), properties.minor()

    def total_memory(self) -> int:
        """Bytes."""
        return self._properties().totalGlobalMem()

    def _properties(self) -> core.cudaDeviceProp:
        properties = core.cudaDeviceProp(self._ordinal)
        errors.check(properties.last_status(), "cudaGetDeviceProperties")
        return properties

    def get_attribute(self, attr: Int | str) -> int:
        """The value of an attribute (int), by a device_attribute or its number."""
        number = attribute_number(attr)
        value = errors.check(
            core.cudaDeviceGetAttribute(number, self._ordinal),
            f"Device.get_attribute({attr!r})",
        )
        if number == enums.device_attribute.COMPUTE_MODE:
            return enums.compute_mode.values.get(value, value)
        return value

    def get_attributes(self) -> dict[enums.device_attribute, int]:
        """{device_attribute: value} of all that the device knows."""
        found = {}
        for attribute in enums.device_attribute:
            try:
                found[attribute] = self.get_attribute(attribute)
            except errors.Error as error:
                if error.status != core.cudaErrorNotSupported:  # HIP lacks many
                    warnings.warn(f"{attribute.name}: {error}", stacklevel=2)
        return found

    def __getattr__(self, name: str) -> int:
        attribute = enums.device_attribute.names.get(name.upper())
        if attribute is None or name.startswith("_"):
            raise AttributeError(f"a Device has no attribute {name!r}")
        return self.get_attribute(attribute)

    def make_context(self, flags: Int = enums.ctx_flags.SCHED_AUTO) -> Context:
        """Make the device current in this thread; a Context to pop when that is to end."""
        context, chosen = Context(self, _key), int(flags)
        previous = state.current_device()
        errors.check(core.cudaSetDevice(self._ordinal), "cudaSetDevice")
        # There is no way back where it succeeds: that would begin a context on the device before.
        try:
            if chosen and core.cudaSetDeviceFlags(chosen & 0x1F):
                core.cudaGetLastError()  # too late to choose: the primary context is in use
            errors.check(core.cudaFree(0), "make_context")
        except errors.Error:
            core.cudaSetDevice(previous)
            raise
        state.stack().append(context)
        return context

    def retain_primary_context(self) -> Context:
        """The device's context, not made current."""
        return Context(self, _key)

    def can_access_peer(self, dev: Device) -> bool:
        """Can this device reach the memory of `dev`?"""
        if not isinstance(dev, Device):
            raise TypeError(f"dev: expected a Device, got {dev!r}")
        can = core.cudaDeviceCanAccessPeer(self._ordinal, dev._ordinal)
        return bool(errors.check(can, "cudaDeviceCanAccessPeer"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other._ordinal == self._ordinal

    def __hash__(self) -> int:
        return self._ordinal

    def __repr__(self) -> str:
        return f"<Device {self._ordinal}>"


_key = object()  # contexts come from devices


def ordinal_of(name: str, context: Context) -> int:
    """The number of a context's device. TypeError for what is none."""
    if not isinstance(context, Context):
        raise TypeError(f"{name}: expected a Context, got {context!r}")
    return context.device._ordinal


def _activate_top() -> None:
    stack = state.stack()
    if stack:
        errors.check(core.cudaSetDevice(stack[-1].device._ordinal), "cudaSetDevice")


class Context:
    """A device's primary context, as the entry of a thread's stack. See Device.make_context."""

    def __init__(self, device: Device | None = None, key: object = None) -> None:
        if device is None or key is not _key:
            raise RuntimeError("a Context comes from Device.make_context()")
        self.device = device
        self._detached = False

    def push(self) -> None:
        """Make it this thread's current context."""
        self._require_attached("push")
        state.stack().append(self)
        _activate_top()

    @staticmethod
    def pop() -> None:
        """Take the current context off: the one below becomes current. LogicError without one."""
        if not state.stack():
            raise errors.LogicError("Context.pop failed: no context is current in this thread")
        state.stack().pop()
        _activate_top()

    def detach(self) -> None:
        """Give the context up. The device's memory stays: it is the process's own."""
        self._require_attached("detach")
        self._detached = True
        stack = state.stack()
        stack[:] = [context for context in stack if context is not self]
        _activate_top()

    def _require_attached(self, what: str) -> None:
        if self._detached:
            raise errors.LogicError(f"Context.{what} failed: the context was detached before")

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """The current context."""
        context = Context.get_current()
        if context is None:
            raise errors.LogicError("Context.attach failed: no context is current in this thread")
        return context

    @staticmethod
    def get_current() -> Context | None:
        """This thread's current context, or None."""
        stack: list[Context] = state.stack()
        return stack[-1] if stack else None

    @staticmethod
    def get_device() -> Device:
        """The current context's device. LogicError if there is none."""
        context = Context.get_current()
        if context is None:
            raise errors.LogicError("Context.get_device failed: no context is current")
        return context.device

    @staticmethod
    def synchronize() -> None:
        """Wait until the device has done all its work."""
        errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")

    @staticmethod
    def set_limit(limit: Int, value: Int) -> None:
        errors.check(
            core.cudaDeviceSetLimit(integer("limit", limit), extent("value", value)),
            f"set_limit({limit!r}, {value!r})",
        )

    @staticmethod
    def get_limit(limit: Int) -> int:
        return errors.check(
            core.cudaDeviceGetLimit(integer("limit", limit)), f"get_limit({limit!r})"
        )

    @staticmethod
    def set_cache_config(config: Int) -> None:
        errors.check(
            core.cudaDeviceSetCacheConfig(integer("config", config)), "cudaDeviceSetCacheConfig"
        )

    @staticmethod
    def get_cache_config() -> int:
        config = errors.check(core.cudaDeviceGetCacheConfig(), "cudaDeviceGetCacheConfig")
        return enums.func_cache.values.get(config, config)

    @staticmethod
    def set_shared_config(config: Int) -> None:
        """Nothing: devices have had one bank size for long."""
        enums.shared_config(int(config))

    @staticmethod
    def get_shared_config() -> enums.shared_config:
        return enums.shared_config.DEFAULT_BANK_SIZE

    def get_api_version(self) -> int:
        """The version of the runtime that the context is used through."""
        return errors.check(core.cudaRuntimeGetVersion(), "cudaRuntimeGetVersion")

    @staticmethod
    def enable_peer_access(peer: Context, flags: Int = 0) -> None:
        """Let the current device reach the memory of `peer`'s."""
        errors.check(
            core.cudaDeviceEnablePeerAccess(ordinal_of("peer", peer), integer("flags", flags)),
            "cudaDeviceEnablePeerAccess",
        )

    @staticmethod
    def disable_peer_access(peer: Context, flags: Int = 0) -> None:
        errors.check(
            core.cudaDeviceDisablePeerAccess(ordinal_of("peer", peer)),
            "cudaDeviceDisablePeerAccess",
        )

    @property
    def handle(self) -> int:
        """The address of the CUcontext (int), for libraries that use the driver API."""
        with on_device(self.device._ordinal):
            return errors.check(core._context_handle(), "cuCtxGetCurrent")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<Context of device {self.device._ordinal}>"
