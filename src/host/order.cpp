// Order of work on streams. See order.h.
#include "order.h"

#include <atomic>
#include <chrono>
#include <cstdio>
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
  std::uint64_t count = 0;  // number of items inserted so far, which is the newest item's number
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

// With more deferred items than this, a program waits, as for a GPU whose queue is full.
constexpr std::size_t most_deferred = 1024;

__thread Item* item_of_thread = nullptr;  // the innermost item of this thread's calls

bool is_same(const Lane& a, const Lane& b) {
  return a.device == b.device && a.kind == b.kind && a.key == b.key;
}

// Return true if work of these lanes runs in issue order: they are the same, or one is the null
// stream and the other a blocking stream of its device.
bool are_ordered(const Lane& a, const Lane& b) {
  if (is_same(a, b)) return true;
  const bool is_null = a.kind == Lane::Kind::null || b.kind == Lane::Kind::null;
  return is_null && a.device == b.device && a.kind != Lane::Kind::non_blocking &&
         b.kind != Lane::Kind::non_blocking;
}

// Return true if `item` must wait for `other`, which was issued earlier or runs.
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

// Add the calling thread's item. A call inside another call of this thread, by a handler of a
// signal, comes before the outer call, which cannot end earlier.
void add_call(Item& item) {
  item.thread = this_thread();
  item.outer = item_of_thread;
  items.insert(item, item.outer);
  item_of_thread = &item;
}

// Begin all items that nothing delays: wake their threads, or run deferred ones here.
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
    item = items.first;  // the list may have changed meanwhile
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
  bool is_earlier = true;
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
    if (items.deferred <= most_deferred) return;
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
  bool is_ended = false;
  while (!item.is_running && !is_ended) {
    if (!may_be_interrupted) {
      wake.wait(hold);
    } else if (wake.wait_for(hold, 50ms) == std::cv_status::timeout) {
      hold.unlock();
      is_ended = asks_to_end();
      hold.lock();
    }
  }
  item.wake = nullptr;
  return !is_ended;
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
  Fault fault{cudaErrorLaunchFailure, ""};
  std::snprintf(fault.text, sizeof fault.text,
                "interrupted while the call waited for work of another thread");
  set_last_report(&fault);
  return fault.code;
}

}  // namespace PyGPU::host

cudaError_t cudaHostAroundWait(void (*around)(void (*wait)(void*), void* data)) {
  return PyGPU::host::call([&] {
    PyGPU::host::wait_hook = around;
    return cudaSuccess;
  });
}
