// Docstrings of streams, events and the calls on them. HIP defines macros of the calls' names, so
// the strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaStream_t_text[] = R"(Stream of the current device; the object owns it.

The stream is destroyed with the object. After a failure `last_status()` reports the error.

Parameters
----------
flags : int, default 0
    ``cudaStreamDefault`` or ``cudaStreamNonBlocking``.
priority : int, default 0
    Priority; a lower number is a higher priority. See cudaDeviceGetStreamPriorityRange.

Examples
--------
>>> import PyGPU
>>> stream = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
>>> stream.last_status()
<cudaError: code=0>
>>> PyGPU.cudaStreamSynchronize(stream)
<cudaError: code=0>
)";

inline constexpr char cudaEvent_t_text[] = R"(Event of the current device; the object owns it.

The event is destroyed with the object. After a failure `last_status()` reports the error.

Parameters
----------
flags : int or bytes, default 0
    A combination of the numbers ``cudaEvent...``; or the bytes that cudaIpcGetEventHandle
    returned in another process.

Raises
------
ValueError
    If the bytes of a handle are not 64.

Examples
--------
>>> import PyGPU
>>> event = PyGPU.cudaEvent_t()
>>> PyGPU.cudaEventRecord(event)
<cudaError: code=0>
>>> PyGPU.cudaEventSynchronize(event)
<cudaError: code=0>
)";

inline constexpr char handle[] = R"(Return the handle as a number.

-> The handle; 0 if the object is empty.
)";

inline constexpr char last_status_of_handle[] =
    R"(Return the status of the object's creation, or of its destruction.

-> The status.
)";

inline constexpr char cudaStreamDestroy_text[] = R"(Destroy a stream now instead of with its object.

Work that is on the stream is still done.

stream: The stream.

>>> stream = PyGPU.cudaStream_t()
>>> PyGPU.cudaStreamDestroy(stream)
<cudaError: code=0>
>>> PyGPU.cudaStreamDestroy(stream).name  # destroyed already
'cudaErrorInvalidResourceHandle'
)";

inline constexpr char cudaStreamSynchronize_text[] = R"(Wait until a stream has finished its work.

-> Outcome of the call, or an error of the work that was waited for.

>>> PyGPU.cudaStreamSynchronize(PyGPU.cudaStream_t())
<cudaError: code=0>
)";

inline constexpr char cudaStreamQuery_text[] = R"(Return whether a stream has finished its work.

-> ``cudaSuccess`` if the stream is idle, ``cudaErrorNotReady`` (600) if it is not.

>>> stream = PyGPU.cudaStream_t()
>>> PyGPU.cudaStreamQuery(stream)
<cudaError: code=0>
)";

inline constexpr char cudaStreamWaitEvent_text[] = R"(Make later work on a stream wait for an event.

flags: Must be 0.

>>> stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
>>> PyGPU.cudaEventRecord(event)
<cudaError: code=0>
>>> PyGPU.cudaStreamWaitEvent(stream, event)
<cudaError: code=0>
)";

inline constexpr char cudaLaunchHostFunc_text[] =
    R"(Call a function when the work before it is done.

Later work on the stream waits until the function has returned. The runtime calls the function in a
thread of its own; the target host calls it in the calling thread. An exception of the function goes
to sys.unraisablehook, and the stream continues. In the function, every call of the runtime returns
cudaErrorNotPermitted; the function may signal another thread. During a capture, each launch of the graph calls the function. Functions that have
not begun when the interpreter ends are not called.

function: Function without parameters; its result is ignored.
Raises TypeError: If ``function`` is not callable.

>>> stream, done = PyGPU.cudaStream_t(), []
>>> PyGPU.cudaLaunchHostFunc(stream, lambda: done.append("copied"))
<cudaError: code=0>
>>> PyGPU.cudaStreamSynchronize(stream)
<cudaError: code=0>
>>> done
['copied']
)";

inline constexpr char cudaStreamGetFlags_text[] = R"(Return the flags of a stream.

-> flags: ``cudaStreamDefault`` or ``cudaStreamNonBlocking``.

>>> PyGPU.cudaStreamGetFlags(PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking))
(1, <cudaError: code=0>)
)";

inline constexpr char cudaStreamGetPriority_text[] = R"(Return the priority of a stream.

-> priority: The priority; a lower number is a higher priority.

>>> PyGPU.cudaStreamGetPriority(PyGPU.cudaStream_t())
(0, <cudaError: code=0>)
)";

inline constexpr char cudaEventDestroy_text[] = R"(Destroy an event now instead of with its object.

>>> event = PyGPU.cudaEvent_t()
>>> PyGPU.cudaEventDestroy(event)
<cudaError: code=0>
)";

inline constexpr char cudaEventRecord_text[] =
    R"(Record an event: it completes once the stream's work so far is done.

>>> event = PyGPU.cudaEvent_t()
>>> PyGPU.cudaEventRecord(event)
<cudaError: code=0>
)";

inline constexpr char cudaEventSynchronize_text[] = R"(Wait until an event has completed.

-> Outcome of the call, or an error of the work that was waited for.

>>> event = PyGPU.cudaEvent_t()
>>> PyGPU.cudaEventRecord(event)
<cudaError: code=0>
>>> PyGPU.cudaEventSynchronize(event)
<cudaError: code=0>
)";

inline constexpr char cudaEventQuery_text[] = R"(Return whether an event has completed.

-> ``cudaSuccess`` if the event has completed, ``cudaErrorNotReady`` (600) if it has not.

>>> PyGPU.cudaEventQuery(PyGPU.cudaEvent_t())  # never recorded
<cudaError: code=0>
)";

inline constexpr char cudaEventElapsedTime_text[] = R"(Return the time between two events.

start: The earlier event.
end: The later event.
-> milliseconds: The time between them in milliseconds.
-> status: Outcome of the call. ``cudaErrorInvalidResourceHandle`` (400) if an event has no time, or
    if they are of two devices; ``status.detail`` says which event, and why.

>>> start, end = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
>>> for event in (start, end):
...     status = PyGPU.cudaEventRecord(event)
...     status = PyGPU.cudaEventSynchronize(event)
>>> milliseconds, status = PyGPU.cudaEventElapsedTime(start, end)
>>> milliseconds >= 0, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaProfilerStart_text[] =
    R"(Make the vendor's profiler start, if one is attached.

>>> PyGPU.cudaProfilerStart()
<cudaError: code=0>
)";

inline constexpr char cudaProfilerStop_text[] =
    R"(Make the vendor's profiler stop, if one is attached.

>>> PyGPU.cudaProfilerStop()
<cudaError: code=0>
)";

}  // namespace PyGPU::python::docs
