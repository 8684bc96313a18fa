"""KeyboardInterrupt at every bytecode of a call: nothing may be lost, and nothing left behind.

``python tests/support/interrupts.py`` does it for all calls of `CALLS`, at every bytecode;
``.ci/campaign`` runs it. `tests/driver/test_interrupts.py` takes some bytecodes of each.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from functools import cache

import numpy as np

from PyGPU import driver as drv
from PyGPU import gpuarray, tools
from PyGPU._runtime import core, state
from PyGPU.transfer import configure

#: Modules and packages whose bytecodes count.
counted = {"PyGPU", "contextlib", __name__}


def _is_ours(frame):
    name = frame.f_globals.get("__name__") or ""
    return name in counted or name.split(".")[0] in counted


class Interrupt(KeyboardInterrupt):
    """An interrupt that no other part raises."""


def _run_traced(call, visit):
    """Run `call`, and `visit(frame)` before each bytecode of the counted modules in it."""

    def trace(frame, event, argument):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call":
            return trace if _is_ours(frame) else None
        if event == "opcode":
            visit(frame)
        return trace

    before = sys.gettrace()
    try:
        sys.settrace(trace)
        call()
    finally:
        sys.settrace(before)


def _run_monitored(call, visit):
    """Do what `_run_traced` does, where tracers miss bytecodes of code that ran before."""
    monitoring, tool = sys.monitoring, 4  # a number that no kind of tool has

    def each(code, offset):
        frame = sys._getframe(1)
        if code is not _run_monitored.__code__ and _is_ours(frame):
            visit(frame)

    monitoring.use_tool_id(tool, __name__)
    try:
        monitoring.register_callback(tool, monitoring.events.INSTRUCTION, each)
        monitoring.set_events(tool, monitoring.events.INSTRUCTION)
        call()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.INSTRUCTION, None)
        monitoring.free_tool_id(tool)


_run = _run_monitored if sys.version_info >= (3, 12) else _run_traced


def interrupted(call, at):
    """Run `call` with an interrupt before its bytecode number `at`; return the exception or None.

    Bytecodes of `call`, of PyGPU and of contextlib count. Interrupts that are written as
    unraisable are lost, so they end up as an AssertionError.
    """
    left, lost, raised = [at], [], []

    def visit(frame):
        left[0] -= 1
        if left[0] < 0 and not raised:
            raised.append(frame.f_code.co_name)
            raise Interrupt

    hook, sys.unraisablehook = sys.unraisablehook, lost.append
    try:
        _run(call, visit)
    except Interrupt:
        if lost:
            raise AssertionError(f"{lost[0].exc_value!r} in {lost[0].object!r}") from None
        return raised[0]
    finally:
        sys.unraisablehook = hook
    if raised or lost:
        raise AssertionError(f"bytecode {at}, in {raised}: the interrupt was lost")
    return None


def sweep(call, state_of, step=1, first=0):
    """Interrupt `call` at every `step`-th bytecode; return the number of interrupts.

    After each, `state_of()` must be what it was before, and the call must work again.
    """
    call()  # imports, kernels and pools of the first time
    gc.collect()
    expected, count, at = state_of(), 0, first
    while True:
        where = interrupted(call, at)
        found = state_of()
        if found != expected:
            raise AssertionError(f"bytecode {at}, in {where}: {found}, expected {expected}")
        if where is None:
            return count
        count, at = count + 1, at + step


# The calls, each with the state that must be as before.

_BUFFER = np.zeros(1 << 14, np.uint8)
_blocks, _host_blocks = cache(drv.DeviceMemoryPool), cache(drv.PageLockedMemoryPool)


@cache
def _stream():
    return drv.Stream(1)


@cache
def _shared_array():
    return gpuarray.zeros(4, np.int32)


def _device_pool():
    _blocks().allocate(1000)
    block = _blocks().allocate(2000)
    block.free()


def _host_pool():
    array = _host_blocks().allocate(1000, np.float32)
    array[0] = 1


def _page_locked():
    drv.pagelocked_empty(1000, np.float32)


def _freed():
    drv.pagelocked_zeros(1000, np.float32).base.free()


def _registered():
    drv.register_host_memory(_BUFFER)


def _unregistered():
    drv.register_host_memory(_BUFFER).base.unregister()


def _managed():
    drv.managed_zeros(1000, np.float32)


def _allocator():
    tools.PageLockedAllocator().allocate(1000)


def _memory():
    drv.mem_alloc(1000).free()


def _array():
    gpuarray.to_gpu(np.arange(5)).get()


def _capture():
    with _stream().capture():
        _shared_array().fill(3)


def _capture_that_fails():
    try:
        with _stream().capture():
            raise ValueError
    except ValueError:
        pass


def _device():
    with core.device(core.cudaGetDeviceCount()[0] - 1):
        pass


def _transfer_settings():
    with configure(threads=2, chunk_bytes=4096, result_cache=7), configure(chunks=3):
        pass


def _is_registered():
    status = core.cudaHostUnregister(_BUFFER.ctypes.data)
    core.cudaGetLastError()
    return not status


def state_now():
    """Return what each call must leave as it was."""
    return {
        "registered": _is_registered(),
        "pool": (_blocks().active_blocks, _blocks().active_bytes),
        "host pool": (_host_blocks().active_blocks, _host_blocks().active_bytes),
        "capturing": core._is_capturing(),
        "captured": core._is_captured(_stream()),
        "device": core.cudaGetDevice(),
        "contexts": list(state.stack()),
        "owners": _owners(),
        "transfers": (configure(), core._transfer_settings(), core._result_memory()[2]),
    }


def _owners():
    """Return how many owners of host memory the garbage collector sees."""
    return Counter(
        # By the type alone: the attribute __class__ of other libraries' objects may run their code.
        type(one).__name__
        for one in gc.get_objects()
        if issubclass(type(one), core._MemoryOwner)
    )


CALLS = {
    "a block of a pool": _device_pool,
    "a block of a page-locked pool": _host_pool,
    "page-locked memory": _page_locked,
    "page-locked memory, freed": _freed,
    "registered memory": _registered,
    "registered memory, unregistered": _unregistered,
    "managed memory": _managed,
    "a page-locked allocator": _allocator,
    "device memory": _memory,
    "an array": _array,
    "a capture": _capture,
    "a capture whose body fails": _capture_that_fails,
    "a current device": _device,
    "settings of transfers": _transfer_settings,
}


def main():
    total = 0
    for name, call in CALLS.items():
        count = sweep(call, state_now)
        print(f"{name}: {count} interrupts, none lost, nothing left", flush=True)
        total += count
    print(f"{total} interrupts in {len(CALLS)} calls")


if __name__ == "__main__":
    main()
