// Order of work on streams. Work that several threads issue to one stream runs one after the other.
//
// An item is one piece of work, from the call that issues the work until the work has run. The
// machine lists its items in issue order. An item begins when no earlier item delays it, so the
// first item of the list can always run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "machine.h"

namespace PyGPU::host {

// Identity of a stream within the order. Items of a destroyed stream keep their lane.
struct Lane {
  enum class Kind { null, blocking, non_blocking };
  int device = 0;
  Kind kind = Kind::null;
  const void* key = nullptr;  // differs between the streams of one kind
};

struct Item {
  // Earlier items that delay this item.
  enum class Scope {
    lane,        // items of its lane and of the lanes that run in issue order with it
    lane_alone,  // items of its lane
    device,      // items of its device
    everything,  // all items
    nothing      // no item
  };

  Lane lane{};
  Scope scope = Scope::lane;
  bool delays_later = true;   // false for a call that only waits
  std::uint64_t awaited = 0;  // number of an additional item that delays this item, or 0

  // The functions below set the following members, under the machine's lock.
  std::uint64_t number = 0;
  const void* thread = nullptr;  // thread that made the call; null for a deferred item
  bool is_running = false;
  std::condition_variable* wake = nullptr;  // wakes the waiting thread; null while no thread waits
  Item *previous = nullptr, *next = nullptr;
  Item* outer = nullptr;  // item of the call during which the same thread made this call
};

// Identify the calling thread.
const void* this_thread();

// Return the lane of a stream, or nothing if the stream is invalid. Call with the machine's lock
// held.
std::optional<Lane> find_lane(cudaStream_t stream);

// Return true if no other item delays `item`. Call with the machine's lock held.
bool is_ready(const Item& item);

// Add a deferred item and return its number. `run` is called with that number, without the lock,
// when no earlier item delays the item. The thread that ends the last delaying item calls it.
// Call with the machine's lock held. If std::bad_alloc is thrown, no item was added.
std::uint64_t defer(const Item& item, std::function<void(std::uint64_t)> run);

// Wait for the item with this number if too many items are deferred. Call without the lock.
void limit_deferred(std::uint64_t number);

// Wait until no earlier item delays `item`.
cudaError_t wait_until_ready(Item item);

// Call `release` when the items in `scope` have ended, and wait for it. If the wait is interrupted,
// return at once; `release` is still called later.
cudaError_t release_after(Item::Scope scope, int device, std::function<void()> release);

// Begin and end the item of a call. begin_item sets `may_run` to true if the work may run at once.
// Otherwise call await_turn, which returns false if the wait was interrupted.
cudaError_t begin_item(Item& item, cudaStream_t stream, bool& may_run);
bool await_turn(Item& item);
void end_item(Item& item);

struct EndItem {
  void operator()(Item* item) const { end_item(*item); }
};
using Turn = std::unique_ptr<Item, EndItem>;

// Call `wait(data)` through the function set by cudaHostAroundWait, if there is one. Call without
// locks.
void around_wait(void (*wait)(void*), void* data);
template <class Wait>
void around_wait(Wait wait) {
  around_wait([](void* data) { (*static_cast<Wait*>(data))(); }, &wait);
}

// Report that a wait for another thread was interrupted. Return the error code for the call that
// waited.
cudaError_t report_interrupted_wait();

// Run `body` in the order of the stream.
template <class Body>
cudaError_t in_order(cudaStream_t stream, Body&& body) {
  Item item;
  bool may_run = false;
  if (const cudaError_t error = begin_item(item, stream, may_run)) return error;
  if (may_run) {
    const Turn turn(&item);
    return body();
  }
  cudaError_t outcome = cudaSuccess;
  // End the item inside around_wait: the function that calls the wait may take the GIL afterwards.
  around_wait([&] {
    const Turn turn(&item);
    outcome = await_turn(item) ? body() : report_interrupted_wait();
  });
  return outcome;
}

}  // namespace PyGPU::host
