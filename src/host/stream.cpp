// Streams and events of the host machine.
//
// An event is recorded when earlier work of its stream has ended, which is at once unless another
// thread's work runs there.
#include "capture.h"
#include "machine.h"
#include "order.h"
#include "sharing.h"

namespace PyGPU::host {
namespace {

using Clock = std::chrono::steady_clock;

cudaError_t check(cudaStream_t stream) {
  return Machine::get().is_valid(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t check(cudaEvent_t event) {
  return Machine::get().is_valid(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t check_to_wait(cudaEvent_t event) {
  if (const cudaError_t error = check(event)) return error;
  return event->capture ? cudaErrorCapturedEvent : refuse_unsafe();
}

cudaError_t check_to_wait(cudaStream_t stream) {
  if (const cudaError_t error = check(stream)) return error;
  const cudaError_t error = refuse_captured(stream);
  return error ? error : refuse_unsafe();
}

// Return an item that earlier work of the stream delays. A blocking stream's does not include the
// null stream's. Call with the machine's lock held.
cudaError_t item_after(cudaStream_t stream, Item& item) {
  const std::optional<Lane> lane = find_lane(stream);
  if (!lane) return cudaErrorInvalidResourceHandle;
  item.lane = *lane;
  item.scope = lane->kind == Lane::Kind::null ? Item::Scope::lane : Item::Scope::lane_alone;
  return cudaSuccess;
}

// Complete a deferred record, unless the event was destroyed or recorded again.
void set_time(cudaEvent_t event, std::uint64_t number) {
  Machine& machine = Machine::get();
  const std::lock_guard<std::mutex> hold(machine.lock);
  if (!machine.events.count(event) || event->pending != number) return;
  event->time = Clock::now();
  event->pending = 0;
  if (event->shared) event->shared->end_record();
}

// Record the event now, or when earlier work of the stream has ended. Return the number of the item
// that does it then, or 0. Call with the machine's lock held.
std::uint64_t record(cudaEvent_t event, const Lane& lane) {
  Item item;
  item.lane = lane;
  event->recorded = true;
  event->pending = 0;
  event->time = Clock::now();
  if (event->shared) event->shared->begin_record();
  if (is_ready(item)) {
    if (event->shared) event->shared->end_record();
    return 0;
  }
  event->pending = defer(item, [event](std::uint64_t number) { set_time(event, number); });
  return event->pending;
}

// Run a function of the program. On a GPU it runs in another thread: it must not call the machine,
// and the caller's errors are not its own.
template <class Function>
cudaError_t run_host_function(Function function) {
  const ThreadErrors before = exchange_errors({});
  in_host_function = true;
  function();
  in_host_function = false;
  (void)exchange_errors(before);
  return cudaSuccess;
}

}  // namespace

__thread bool in_host_function = false;

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&] {
    if (!stream || (flags & ~cudaStreamNonBlocking)) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    (void)priority;  // the only priority is 0; CUDA clamps values outside the range
    *stream = new PyGPUHostStream{current_device(), flags, 0, nullptr, true};
    machine.streams.insert(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    if (!machine.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    drop_captured_stream(stream);
    machine.streams.erase(stream);
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] {
    if (const cudaError_t error = check_to_wait(stream)) return error;
    Item item;
    {
      const std::lock_guard<std::mutex> hold(Machine::get().lock);
      if (const cudaError_t error = item_after(stream, item)) return error;
    }
    const cudaError_t error = wait_until_ready(item);
    return error ? error : unread_fault();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] {
    if (const cudaError_t error = check_to_wait(stream)) return error;
    Item item;
    item.thread = this_thread();
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    if (const cudaError_t error = item_after(stream, item)) return error;
    return is_ready(item) ? unread_fault() : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&] {
    if (flags > 1) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    if (const cudaError_t error = check(event)) return error;
    if (const cudaError_t error = join_capture(stream, event)) return error;
    if (event->capture || is_captured(stream)) return cudaSuccess;
    Machine& machine = Machine::get();
    Item item;
    std::uint64_t number = 0;
    std::shared_ptr<SharedEvent> shared;
    {
      const std::lock_guard<std::mutex> hold(machine.lock);
      const std::optional<Lane> lane = find_lane(stream);
      if (!lane || !machine.events.count(event)) return cudaErrorInvalidResourceHandle;
      if (!event->pending) shared = event->shared;
      if (!event->pending && !shared) return cudaSuccess;
      item.lane = *lane;
      item.awaited = event->pending;
      if (!shared) number = defer(item, [](std::uint64_t) {});
    }
    if (shared) return enqueue(stream, [shared] { return shared->wait(); });
    limit_deferred(number);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call([&] {
    if (!flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    *flags = is_created(stream) ? stream->flags : unsigned(cudaStreamDefault);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] {
    if (!priority) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    *priority = is_created(stream) ? stream->priority : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, std::size_t,
                                     unsigned flags) {
  return call([&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const Allocation* block = machine.find(address);
    return block && block->space == Space::managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call([&] {
    if (!function) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    return enqueue(stream, [=] { return run_host_function([=] { function(data); }); });
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return call([&] {
    if (!callback || flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    if (const cudaError_t error = refuse_captured(stream)) return error;
    return enqueue(stream, [=] {
      const cudaError_t fault = unread_fault();
      return run_host_function([=] { callback(stream, fault, data); });
    });
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] {
    constexpr unsigned known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const bool shared = flags & cudaEventInterprocess;
    if (!event || (flags & ~known) || (shared && !(flags & cudaEventDisableTiming)))
      return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    *event = new PyGPUHostEvent{current_device(), flags};
    machine.events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    if (!machine.events.erase(event)) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] {
    if (const cudaError_t error = check(event)) return error;
    if (const cudaError_t error = check(stream)) return error;
    const int device = is_created(stream) ? stream->device : current_device();
    if (event->device != device) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = capture_event(stream, event)) return error;
    if (event->capture) return cudaSuccess;  // an event in a graph has no time
    Machine& machine = Machine::get();
    std::uint64_t number = 0;
    {
      const std::lock_guard<std::mutex> hold(machine.lock);
      const std::optional<Lane> lane = find_lane(stream);
      if (!lane || !machine.events.count(event)) return cudaErrorInvalidResourceHandle;
      number = record(event, *lane);
    }
    if (number) limit_deferred(number);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] {
    if (const cudaError_t error = check_to_wait(event)) return error;
    Item item;
    item.scope = Item::Scope::nothing;
    std::shared_ptr<SharedEvent> shared;
    {
      Machine& machine = Machine::get();
      const std::lock_guard<std::mutex> hold(machine.lock);
      if (!machine.events.count(event)) return cudaErrorInvalidResourceHandle;
      item.awaited = event->pending;
      shared = event->shared;
    }
    cudaError_t error = item.awaited ? wait_until_ready(item) : cudaSuccess;
    if (!error && shared) error = shared->wait();
    return error ? error : unread_fault();
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] {
    if (const cudaError_t error = check_to_wait(event)) return error;
    Machine& machine = Machine::get();
    const std::lock_guard<std::mutex> hold(machine.lock);
    if (!machine.events.count(event)) return cudaErrorInvalidResourceHandle;
    const bool is_ready = !event->pending && (!event->shared || event->shared->is_complete());
    return is_ready ? unread_fault() : cudaErrorNotReady;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&] {
    if (!milliseconds) return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end})
      if (const cudaError_t error = check(event)) return error;
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    for (cudaEvent_t event : {start, end})
      if (!event->recorded || (event->flags & cudaEventDisableTiming))
        return cudaErrorInvalidResourceHandle;
    if (start->device != end->device) return cudaErrorInvalidResourceHandle;
    if (start->pending || end->pending) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}
