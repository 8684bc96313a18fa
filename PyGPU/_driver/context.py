"""Contexts: names for the primary contexts of devices, on a stack for each thread.

The primary context is the only context of a device that PyGPU uses. Making or pushing a context
selects the device of the calling thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver import enums
from PyGPU._runtime import core, docstrings, errors, extent, integer, state

if TYPE_CHECKING:
    from PyGPU._types import Device, Int

__all__ = ["Context"]

KEY = object()  # passed by Device alone, so that programs cannot construct contexts


def ordinal_of(name: str, context: Context) -> int:
    """Return the ordinal of a context's device; `name` is the argument in the TypeError."""
    if not isinstance(context, Context):
        raise TypeError(f"{name}: expected a Context, got {context!r}")
    return context.device._ordinal


def enter(contexts: list[Context]) -> None:
    """Replace the entries of the thread's stack; the device of the last one becomes current.

    Without entries, the device becomes current that was so before the first entry.
    """
    stack = state.stack()
    if not stack:
        state.set_device_below_contexts(state.current_device())
    device = contexts[-1].device._ordinal if contexts else state.device_below_contexts()
    status = core._set_contexts(stack, contexts, device)
    if status and not contexts:  # a device that another process has to itself, perhaps
        core.cudaGetLastError()
        status = core._set_contexts(stack, contexts, -1)
    errors.check(status, "cudaSetDevice")


class Context:
    """A device's primary context, as an entry of a thread's stack.

    Contexts come from :meth:`Device.make_context` and :meth:`Device.retain_primary_context`.

    :param device: Device of the context.
    :param key: Private to PyGPU: programs cannot construct contexts.

    >>> context = drv.Device(0).make_context()
    >>> drv.Context.get_device() == drv.Device(0)
    True
    >>> context.pop()
    """

    def __init__(self, device: Device | None = None, key: object = None) -> None:
        if device is None or key is not KEY:
            raise RuntimeError("Context: programs cannot construct one; call Device.make_context()")
        self.device = device
        self._detached = False

    def push(self) -> None:
        """Make this context the current one of the thread."""
        self._require_attached("push")
        enter([*state.stack(), self])

    @staticmethod
    def pop() -> None:
        """Remove the current context from the thread's stack; the context below becomes current.

        Below the last context, the device is current that was so before the first one.

        :raises LogicError: If the stack is empty.
        """
        if not state.stack():
            raise errors.LogicError("Context.pop failed: no context is current in this thread")
        enter(state.stack()[:-1])

    def detach(self) -> None:
        """Remove the context from the thread's stack for good.

        The device's memory stays allocated, as the primary context belongs to the process.
        """
        self._require_attached("detach")
        enter([context for context in state.stack() if context is not self])
        self._detached = True

    def _require_attached(self, what: str) -> None:
        if self._detached:
            raise errors.LogicError(f"Context.{what} failed: the context was detached before")

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """Return the current context.

        :param flags: Ignored.
        :returns: The current context of the thread.
        :raises LogicError: If no context is current.
        """
        context = Context.get_current()
        if context is None:
            raise errors.LogicError("Context.attach failed: no context is current in this thread")
        return context

    @staticmethod
    def get_current() -> Context | None:
        """Return the thread's current context.

        :returns: None if the stack is empty.
        """
        stack: list[Context] = state.stack()
        return stack[-1] if stack else None

    @staticmethod
    def get_device() -> Device:
        """Return the device of the current context.

        :returns: The device.
        :raises LogicError: If no context is current.
        """
        context = Context.get_current()
        if context is None:
            raise errors.LogicError(
                "Context.get_device failed: no context is current in this thread"
            )
        return context.device

    @staticmethod
    def synchronize() -> None:
        """Wait until all work of the current device is done."""
        errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")

    @staticmethod
    def set_limit(limit: Int, value: Int) -> None:
        """Set a resource limit of the current device.

        :param limit limit: The limit to set.
        :param value: Its value, in bytes or entries.
        """
        errors.check(
            core.cudaDeviceSetLimit(integer("limit", limit), extent("value", value)),
            f"set_limit({limit!r}, {value!r})",
        )

    @staticmethod
    def get_limit(limit: Int) -> int:
        """Return a resource limit of the current device.

        :param limit limit: The limit to read.
        :returns: Its value, in bytes or entries.
        """
        return errors.check(
            core.cudaDeviceGetLimit(integer("limit", limit)), f"get_limit({limit!r})"
        )

    @staticmethod
    def set_cache_config(config: Int) -> None:
        """Set the preferred use of the current device's on-chip memory.

        :param func_cache config: Shared memory or L1 cache.
        """
        errors.check(
            core.cudaDeviceSetCacheConfig(integer("config", config)), "cudaDeviceSetCacheConfig"
        )

    @staticmethod
    def get_cache_config() -> int:
        """Return the preferred use of the current device's on-chip memory.

        :returns func_cache: Shared memory or L1 cache.
        """
        config = errors.check(core.cudaDeviceGetCacheConfig(), "cudaDeviceGetCacheConfig")
        return enums.func_cache.values.get(config, config)

    @staticmethod
    def set_shared_config(config: Int) -> None:
        """Do nothing: current devices have one bank size.

        :param shared_config config: Checked and ignored.
        """
        enums.shared_config(int(config))

    @staticmethod
    def get_shared_config() -> enums.shared_config:
        """Return the bank size of shared memory.

        :returns: Always DEFAULT_BANK_SIZE.
        """
        return enums.shared_config.DEFAULT_BANK_SIZE

    def get_api_version(self) -> int:
        """Return the version of the runtime.

        :returns: 1000 * major + 10 * minor.
        """
        return errors.check(core.cudaRuntimeGetVersion(), "cudaRuntimeGetVersion")

    @staticmethod
    def enable_peer_access(peer: Context, flags: Int = 0) -> None:
        """Let the current device access the memory of another device.

        :param peer: Context of the device that owns the memory.
        :param {0} flags: Must be 0.
        """
        errors.check(
            core.cudaDeviceEnablePeerAccess(ordinal_of("peer", peer), integer("flags", flags)),
            "cudaDeviceEnablePeerAccess",
        )

    @staticmethod
    def disable_peer_access(peer: Context, flags: Int = 0) -> None:
        """End the current device's access to the memory of another device.

        :param peer: Context of the device that owns the memory.
        :param flags: Ignored.
        """
        errors.check(
            core.cudaDeviceDisablePeerAccess(ordinal_of("peer", peer)),
            "cudaDeviceDisablePeerAccess",
        )

    @property
    def handle(self) -> int:
        """Address of the CUcontext (int), for libraries that use the driver API."""
        with core.device(self.device._ordinal):
            return errors.check(core._context_handle(), "cuCtxGetCurrent")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<Context of device {self.device._ordinal}>"


docstrings.complete(__name__)
