// Order of work on streams: work that several threads put on one stream runs one after the other.
//
// An item is one piece of work, from its call until it has run. The machine's list of items is in
// issue order. An item begins when no earlier item delays it, so the first item of the list can
// always run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "machine.h"

namespace PyGPU::host {

// A stream as the order knows it. Items of a destroyed stream keep their lane.
struct Lane {
  enum class Kind { null, blocking, non_blocking };
  int device = 0;
  Kind kind = Kind::null;
  const void* key = nullptr;  // differs between the streams of one kind
};

struct Item {
  // The earlier items that delay this one: those of its lane and of lanes that its lane waits for,
  // those of its lane alone, those of its device, all, or none.
  enum class Scope { lane, lane_alone, device, everything, nothing };

  Lane lane{};
  Scope scope = Scope::lane;
  bool delays_later = true;   // false for a call that only waits
  std::uint64_t awaited = 0;  // number of one more item that delays this one, or 0

  // Set by the functions below; `is_running` and the rest are guarded by the machine's lock.
  std::uint64_t number = 0;
  const void* thread = nullptr;  // the thread whose call this is; null for a deferred item
  bool is_running = false;
  std::condition_variable* wake = nullptr;  // its thread sleeps here
  Item *previous = nullptr, *next = nullptr;
  Item* outer = nullptr;  // item during which the same thread issued this one
};

// Identify the calling thread.
const void* this_thread();

// Return the lane of a stream, or nothing if the stream is invalid. Call with the machine's lock
// held.
std::optional<Lane> find_lane(cudaStream_t stream);

// Return true if no item delays this one. Call with the machine's lock held.
bool is_ready(const Item& item);

// Add an item whose work runs when no earlier item delays it, in the thread that ends the last
// earlier one. `run` gets the item's number and is called without the lock. Return that number.
// Call with the machine's lock held. It may throw std::bad_alloc; then nothing was added.
std::uint64_t defer(const Item& item, std::function<void(std::uint64_t)> run);

// If too many items are deferred, wait for the item with this number. Call without the lock.
void limit_deferred(std::uint64_t number);

// Wait until no earlier item delays this one.
cudaError_t wait_until_ready(Item item);

// Free a resource with `release` when the items in `scope` have ended, and wait for that. After an
// interruption, return at once; the release is still made.
cudaError_t release_after(Item::Scope scope, int device, std::function<void()> release);

// Begin and end a call's item. begin_item sets `may_run` if the work may run at once; otherwise
// call await_turn, which returns false if the wait was interrupted.
cudaError_t begin_item(Item& item, cudaStream_t stream, bool& may_run);
bool await_turn(Item& item);
void end_item(Item& item);

struct EndItem {
  void operator()(Item* item) const { end_item(*item); }
};
using Turn = std::unique_ptr<Item, EndItem>;

// Call `wait(data)` as cudaHostAroundWait asks. Call it without locks.
void around_wait(void (*wait)(void*), void* data);
template <class Wait>
void around_wait(Wait wait) {
  around_wait([](void* data) { (*static_cast<Wait*>(data))(); }, &wait);
}

// Report that a wait for other threads was interrupted, and return the error of its call.
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
  // The item ends inside around_wait: what follows there may take the GIL.
  around_wait([&] {
    const Turn turn(&item);
    outcome = await_turn(item) ? body() : report_interrupted_wait();
  });
  return outcome;
}

}  // namespace PyGPU::host
