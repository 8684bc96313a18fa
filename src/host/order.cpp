// Order of work on streams. See order.h.
#include "order.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "PyGPU/vendor/host_modules.h"
#include "fault.h"
#include "interrupt.h"

namespace PyGPU::host {
namespace {

struct DeferredItem : Item {
  std::function<void(std::uint64_t)> run;
};

// Items in issue order, guarded by the machine's lock.
struct Items {
  Item* first = nullptr;
  Item* last = nullptr;
  std::uint64_t count = 0;  // items inserted so far; also the number of the newest item
  std::size_t deferred = 0;

  // Insert an item before `next`, or at the end if `next` is null.
  void insert(Item& item, Item* next) {
    item.number = ++count;
    item.next = next;
    item.previous = next ? next->previous : last;
    (item.previous ? item.previous->next : first) = &item;
    (next ? next->previous : last) = &item;
  }

  void remove(Item& item) {
    (item.previous ? item.previous->next : first) = item.next;
    (item.next ? item.next->previous : last) = item.previous;
  }
};
Items items;

// Maximum number of deferred items. Above it the caller waits, as for a GPU with a full queue.
constexpr std::size_t max_deferred = 1024;

__thread Item* item_of_thread = nullptr;  // item of this thread's innermost call

bool is_same(const Lane& a, const Lane& b) {
  return a.device == b.device && a.kind == b.kind && a.key == b.key;
}

// Return true if the work of two lanes runs in issue order. This holds for equal lanes, and for the
// null stream and any blocking stream of the same device.
bool are_ordered(const Lane& a, const Lane& b) {
  if (is_same(a, b)) return true;
  const bool is_null = a.kind == Lane::Kind::null || b.kind == Lane::Kind::null;
  return is_null && a.device == b.device && a.kind != Lane::Kind::non_blocking &&
         b.kind != Lane::Kind::non_blocking;
}

// Return true if `item` must not begin before `other` has ended. The caller passes an `other` that
// was issued earlier or is running.
bool delays(const Item& other, const Item& item) {
  if (item.awaited && other.number == item.awaited) return true;
  if (!other.delays_later) return false;
  switch (item.scope) {
    case Item::Scope::lane: return are_ordered(item.lane, other.lane);
    case Item::Scope::lane_alone: return is_same(item.lane, other.lane);
    case Item::Scope::device: return item.lane.device == other.lane.device;
    case Item::Scope::everything: return true;
    case Item::Scope::nothing: break;
  }
  return false;
}

// Add the item of a call by this thread. The call may come from a signal handler that interrupted
// an outer call of the thread. The outer call cannot end before the handler returns, so the new
// item is inserted before the outer one.
void add_call(Item& item) {
  item.thread = this_thread();
  item.outer = item_of_thread;
  items.insert(item, item.outer);
  item_of_thread = &item;
}

// Begin each item that no other item delays. A deferred item runs in this thread; for any other
// item, its waiting thread is woken.
void begin_ready_items(std::unique_lock<std::mutex>& hold) {
  for (Item* item = items.first; item;) {
    if (item->is_running || !is_ready(*item)) {
      item = item->next;
      continue;
    }
    item->is_running = true;
    if (item->thread) {
      if (item->wake) item->wake->notify_one();
      item = item->next;
      continue;
    }
    const std::unique_ptr<DeferredItem> deferred(static_cast<DeferredItem*>(item));
    hold.unlock();
    deferred->run(deferred->number);
    hold.lock();
    items.remove(*deferred);
    --items.deferred;
    item = items.first;  // the list may have changed while it was unlocked
  }
}

std::atomic<void (*)(void (*)(void*), void*)> wait_hook{nullptr};

}  // namespace

const void* this_thread() { return &item_of_thread; }

std::optional<Lane> find_lane(cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy)
    return Lane{current_device(), Lane::Kind::null, nullptr};
  if (stream == cudaStreamPerThread)
    return Lane{current_device(), Lane::Kind::blocking, this_thread()};
  if (!Machine::get().streams.count(stream)) return std::nullopt;
  const bool is_blocking = !(stream->flags & cudaStreamNonBlocking);
  return Lane{stream->device, is_blocking ? Lane::Kind::blocking : Lane::Kind::non_blocking,
              stream};
}

bool is_ready(const Item& item) {
  bool is_earlier = true;  // `other` is before `item` in the list
  for (const Item* other = items.first; other; other = other->next) {
    if (other == &item) {
      is_earlier = false;
      continue;
    }
    // A thread does not wait for itself.
    if (other->thread && other->thread == item.thread) continue;
    if ((is_earlier || other->is_running) && delays(*other, item)) return false;
  }
  return true;
}

std::uint64_t defer(const Item& item, std::function<void(std::uint64_t)> run) {
  auto deferred = std::make_unique<DeferredItem>();
  static_cast<Item&>(*deferred) = item;
  deferred->run = std::move(run);
  items.insert(*deferred, nullptr);
  ++items.deferred;
  return deferred.release()->number;
}

void limit_deferred(std::uint64_t number) {
  {
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    if (items.deferred <= max_deferred) return;
  }
  Item item;
  item.scope = Item::Scope::nothing;
  item.awaited = number;
  (void)wait_until_ready(item);
}

cudaError_t wait_until_ready(Item item) {
  item.delays_later = false;
  {
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    item.thread = this_thread();
    if (!items.first || in_kernel()) return cudaSuccess;
    if (item_of_thread) {
      add_call(item);
      item.is_running = is_ready(item);
    } else {
      if (is_ready(item)) return cudaSuccess;
      add_call(item);
    }
  }
  cudaError_t outcome = cudaSuccess;
  around_wait([&] {
    const Turn turn(&item);
    if (!await_turn(item)) outcome = report_interrupted_wait();
  });
  return outcome;
}

cudaError_t release_after(Item::Scope scope, int device, std::function<void()> release) {
  Item item;
  item.scope = scope;
  item.lane.device = device;
  item.delays_later = false;
  Item end;
  {
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    if (!is_ready(item))
      end.awaited = defer(item, [release = std::move(release)](std::uint64_t) { release(); });
  }
  if (!end.awaited) {
    release();
    return cudaSuccess;
  }
  end.scope = Item::Scope::nothing;
  (void)wait_until_ready(end);
  return cudaSuccess;
}

cudaError_t begin_item(Item& item, cudaStream_t stream, bool& may_run) {
  const std::lock_guard<std::mutex> hold(Machine::get().lock);
  const std::optional<Lane> lane = find_lane(stream);
  if (!lane) return cudaErrorInvalidResourceHandle;
  item.lane = *lane;
  const bool is_first = !items.first;
  add_call(item);
  may_run = item.is_running = is_first || is_ready(item) || in_kernel();
  return cudaSuccess;
}

bool await_turn(Item& item) {
  using namespace std::chrono_literals;
  const bool may_be_interrupted = is_watched_thread();
  std::condition_variable wake;
  std::unique_lock<std::mutex> hold(Machine::get().lock);
  item.wake = &wake;
  bool is_interrupted = false;
  while (!item.is_running && !is_interrupted) {
    if (!may_be_interrupted) {
      wake.wait(hold);
    } else if (wake.wait_for(hold, 50ms) == std::cv_status::timeout) {
      hold.unlock();
      is_interrupted = asks_to_end();
      hold.lock();
    }
  }
  item.wake = nullptr;
  return !is_interrupted;
}

void end_item(Item& item) {
  std::unique_lock<std::mutex> hold(Machine::get().lock);
  item_of_thread = item.outer;
  items.remove(item);
  if (items.first && item.delays_later) begin_ready_items(hold);
}

void around_wait(void (*wait)(void*), void* data) {
  const auto hook = wait_hook.load();
  hook ? hook(wait, data) : wait(data);
}

cudaError_t report_interrupted_wait() {
  set_last_report("interrupted while waiting for work that another thread issued");
  return cudaErrorLaunchFailure;
}

}  // namespace PyGPU::host

cudaError_t cudaHostAroundWait(void (*around)(void (*wait)(void*), void* data)) {
  return PyGPU::host::call([&] {
    PyGPU::host::wait_hook = around;
    return cudaSuccess;
  });
}
