"""Devices: their properties, the versions of runtime and driver, and the default device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyGPU._driver import enums
from PyGPU._driver.context import KEY, Context, enter
from PyGPU._runtime import (
    clear_context_caches,
    core,
    docstrings,
    errors,
    integer,
    settings,
    state,
    warn,
)

if TYPE_CHECKING:
    from PyGPU._types import Int

__all__ = [
    "Device",
    "get_driver_version",
    "get_version",
    "have_gl_ext",
    "init",
]


def init(flags: int = 0) -> None:
    """Raise an exception if no device is available.

    The runtime initializes itself at its first use, so programs need not call this function.

    :param {0} flags: Must be 0.
    :raises LogicError: If `flags` is not 0.
    :raises RuntimeError: If no device is available.

    >>> drv.init()
    """
    if flags != 0:
        raise errors.LogicError(f"init failed: flags={flags!r}: expected 0")
    state.require_device()


def _stated_version() -> int | None:
    """Return the version that PYGPU_STATED_CUDA_VERSION sets, or None: 11080 for 11.8.

    CUDA 12 removed texture and surface references, so some programs do not use them there. PyGPU
    supports them: such programs use them if the variable is set to an older version.
    """
    version: int | None = settings.value("PYGPU_STATED_CUDA_VERSION")
    return version


def get_version() -> tuple[int, int, int]:
    """Return the version of CUDA or HIP that PyGPU was built against.

    If the environment variable PYGPU_STATED_CUDA_VERSION is set, for example to 11.8, return that
    version instead.

    :returns tuple of int: (major, minor, revision).

    >>> len(drv.get_version())
    3
    """
    version = _stated_version()
    if version is None:
        version = errors.check(core.cudaRuntimeGetVersion(), "cudaRuntimeGetVersion")
    return version // 1000, version % 1000 // 10, version % 10


def get_driver_version() -> int:
    """Return the version of the driver.

    If the environment variable PYGPU_STATED_CUDA_VERSION is set, for example to 11.8, return that
    version instead.

    :returns: The version as 1000 * major + 10 * minor.

    >>> drv.get_driver_version() >= 11000
    True
    """
    stated = _stated_version()
    return (
        stated
        if stated is not None
        else errors.check(core.cudaDriverGetVersion(), "cudaDriverGetVersion")
    )


def have_gl_ext() -> bool:
    """Return False, because PyGPU does not support OpenGL interoperability.

    :returns: False.

    >>> drv.have_gl_ext()
    False
    """
    return False


def _attribute_number(attr: Int | str) -> int:
    """Convert a device attribute, or its name in upper or lower case, to its number."""
    if isinstance(attr, str):
        found = enums.device_attribute.names.get(attr.upper())
        if found is None:
            raise errors.LogicError(
                f"Device.get_attribute failed: attr={attr!r}: expected the name of a "
                "device_attribute"
            )
        return found
    return integer("attr", attr)


class Device:
    """A device: a GPU, or the host machine of the target ``host``.

    Each ``device_attribute`` is also a property of the device. The property's name is in lower
    case: ``device.warp_size`` is the attribute WARP_SIZE.

    :param number: Ordinal of the device, or its PCI bus id ("0000:3b:00.0").
    :raises LogicError: If there is no such device.

    >>> device = drv.Device(0)
    >>> device.get_attribute(drv.device_attribute.WARP_SIZE) == device.warp_size
    True
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
            invalid = core.cudaError_t(
                101, f"Device({ordinal}): the number of visible devices is {count}"
            )
            raise errors.exception_of("cudaSetDevice", invalid)
        self._ordinal = ordinal

    @staticmethod
    def count() -> int:
        """Return the number of visible devices.

        :returns: Number of devices, 0 without a GPU or a driver.
        """
        count, status = core.cudaGetDeviceCount()
        if status and status != core.cudaErrorNoDevice:
            errors.check(status, "cudaGetDeviceCount")
        return count

    def name(self) -> str:
        """Return the name of the device.

        :returns: Name of the device model.
        """
        return self._properties().name()

    def pci_bus_id(self) -> str:
        """Return the PCI bus id of the device.

        :returns: Domain, bus, device and function: "dddd:bb:dd.f".
        """
        return errors.check(core.cudaDeviceGetPCIBusId(self._ordinal), "cudaDeviceGetPCIBusId")

    def compute_capability(self) -> tuple[int, int]:
        """Return the compute capability of the device.

        :returns: (major, minor).
        """
        properties = self._properties()
        return properties.major(), properties.minor()

    def total_memory(self) -> int:
        """Return the size of the device's memory.

        :returns: Size in bytes.
        """
        return self._properties().totalGlobalMem()

    def _properties(self) -> core.cudaDeviceProp:
        properties = core.cudaDeviceProp(self._ordinal)
        errors.check(properties.last_status(), "cudaGetDeviceProperties")
        return properties

    def get_attribute(self, attr: Int | str) -> int:
        """Return the value of an attribute.

        :param device_attribute, int or str attr: The attribute, its number, or its name in upper or
            lower case.
        :returns: Value of the attribute. The value of COMPUTE_MODE is a ``compute_mode``.
        :raises LogicError: If there is no such attribute.
        """
        number = _attribute_number(attr)
        value = errors.check(
            core.cudaDeviceGetAttribute(number, self._ordinal),
            f"Device.get_attribute({attr!r})",
        )
        if number == enums.device_attribute.COMPUTE_MODE:
            return enums.compute_mode.values.get(value, value)
        return value

    def get_attributes(self) -> dict[enums.device_attribute, int]:
        """Return the values of all attributes that the device supports.

        :returns dict: Values (int) by ``device_attribute``.
        """
        found = {}
        for attribute in enums.device_attribute:
            try:
                found[attribute] = self.get_attribute(attribute)
            except errors.Error as error:
                if error.status != core.cudaErrorNotSupported:  # HIP lacks many attributes
                    warn(f"{attribute.name}: {error}")
        return found

    def __getattr__(self, name: str) -> int:
        is_special = name.startswith("_")
        attribute = None if is_special else enums.device_attribute.names.get(name.upper())
        if attribute is None:
            raise AttributeError(f"a Device has no attribute {name!r}")
        return self.get_attribute(attribute)

    def make_context(self, flags: Int = enums.ctx_flags.SCHED_AUTO) -> Context:
        """Push the device's context onto this thread's context stack.

        The device is then the current device of this thread.

        :param flags: Combination of ``ctx_flags``. Ignored if the primary context is already in
            use.
        :returns: The device's primary context. Its ``pop()`` removes it from the stack.
        """
        context, chosen = Context(self, KEY), int(flags)
        before = list(state.stack())
        try:
            context.push()
            if chosen and core.cudaSetDeviceFlags(chosen & 0x1F):
                core.cudaGetLastError()  # clear the error: flags of a context in use are fixed
            errors.check(core.cudaFree(0), "make_context")
            return context
        except BaseException:
            enter(before)
            raise

    def retain_primary_context(self) -> Context:
        """Return the device's context without making it current.

        :returns: The device's primary context. :meth:`Context.push` makes it current.
        """
        return Context(self, KEY)

    def can_access_peer(self, dev: Device) -> bool:
        """Return True if this device can access the memory of another device.

        :param dev: Device that owns the memory.
        :returns: True if peer access is possible.
        """
        if not isinstance(dev, Device):
            raise TypeError(f"dev: expected a Device, got {dev!r}")
        can = core.cudaDeviceCanAccessPeer(self._ordinal, dev._ordinal)
        return bool(errors.check(can, "cudaDeviceCanAccessPeer"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other._ordinal == self._ordinal

    def __hash__(self) -> int:
        return self._ordinal

    def __index__(self) -> int:
        return self._ordinal

    def __repr__(self) -> str:
        ordinal = self.__dict__.get("_ordinal")
        if ordinal is None:
            return f"<{type(self).__name__}, not initialized>"
        properties = core.cudaDeviceProp(ordinal)
        if properties.last_status():
            core.cudaGetLastError()
            return f"<{type(self).__name__} {ordinal}>"
        return f"<{type(self).__name__} {ordinal}: {properties.name()}>"


_CHOICE_FILES = ("~/.cuda_device", "~/.cuda-device")


def chosen_device() -> int | None:
    """Return the ordinal that the environment or a file in the home directory sets, or None."""
    ordinal: int | None = settings.value("PYGPU_DEVICE")
    if ordinal is not None:
        return ordinal
    for name in _CHOICE_FILES:
        try:
            return int(Path(name).expanduser().read_text().strip())
        except (OSError, ValueError, RuntimeError):
            continue
    return None


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """Make a context on the default device.

    The ordinal of the default device is read from the environment variables PYGPU_DEVICE and
    CUDA_DEVICE, then from the files ~/.cuda_device and ~/.cuda-device. If none of them sets an
    ordinal, the first device on which a context can be made is used.

    :param callable(Device) ctx_maker: Function that makes a context on a device. The default is
        ``Device.make_context``.
    :returns: The context, which is current in this thread.
    :raises RuntimeError: If no device is available, or if no context can be made on any device.

    >>> from PyGPU.tools import make_default_context
    >>> context = make_default_context()
    >>> int(context.get_device())
    0
    >>> context.pop()
    """
    make = ctx_maker or (lambda device: device.make_context())
    state.require_device()
    chosen = chosen_device()
    if chosen is not None:
        return make(Device(chosen))
    failures = []
    for ordinal in range(Device.count()):
        try:
            return make(Device(ordinal))
        except errors.Error as error:
            failures.append(f"device {ordinal}: {error}")
    raise errors.RuntimeError("no context can be made on any device: " + "; ".join(failures))


def exit_handler(module: dict[str, Any]) -> Callable[[], None]:
    """Return a function for `atexit` that pops a module's context.

    `module` contains the module's global variables. The function sets the variable ``context`` to
    None.
    """

    def finish_up() -> None:
        if module["context"] is not None:
            if Context.get_current() is not None:
                Context.pop()
            module["context"] = None
        clear_context_caches()

    return finish_up


docstrings.complete(__name__)
