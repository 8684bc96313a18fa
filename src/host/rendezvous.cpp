// Barriers and warp functions of one block: decides which waiting threads may continue.
//
// A thread that is not waiting, ready, running or unstarted has finished, and no thread waits for
// it.
//
// Call with a mask: the lanes in the mask continue together, once all unfinished lanes among
// them have arrived at the same call with the same mask.
//
// Call without a mask: it joins the lanes that arrive before no other thread of the warp can run.
// If lanes wait at several such calls, the first call in the source continues first, so that the
// lanes converge after a branch. Memory accesses in lockstep are calls of this kind.
#include "rendezvous.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fault.h"
#include "machine.h"

namespace PyGPU::host {
namespace {

// Return the number of the block's threads that have started.
unsigned started() {
  const PyGPUHostThread& self = PyGPU_host_thread;
  return unsigned(self.next_x) +
         unsigned(self.block_dim.x) *
             (unsigned(self.row_y) + unsigned(self.block_dim.y) * unsigned(self.row_z));
}

template <class Visit>
void for_each_lane(std::uint64_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1) visit(unsigned(__builtin_ctzll(lanes)));
}

std::uint64_t lanes_below(unsigned count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }
std::uint64_t lanes_from(unsigned first) { return ~0ull ^ lanes_below(first); }

bool is_same_call(const Wait& a, const Wait& b) {
  if (a.chain || b.chain) return a.chain && b.chain && *a.chain == *b.chain;
  return a.line == b.line && std::strcmp(a.name, b.name) == 0;
}

// Compare two waits by their position in the source. For lockstep accesses, the order of the code
// is the order of the source.
bool is_before(const Wait& a, const Wait& b) {
  return a.chain && b.chain ? *a.chain < *b.chain : a.line < b.line;
}

// Limits for spin detection in lockstep code. A lane that accesses the same word this often, or
// repeats a loop this often, is waiting for another lane. The other lanes then run.
constexpr unsigned spin_accesses = 1u << 20, spin_rounds = 1u << 24;

}  // namespace

void Rendezvous::begin() {
  const PyGPUHostThread& self = PyGPU_host_thread;
  count_ = unsigned(self.block_dim.x) * unsigned(self.block_dim.y) * unsigned(self.block_dim.z);
  shift_ = unsigned(self.warp_size) == 64 ? 6 : 5;
  waiting_ = head_ = 0;
  at_block_.clear();
  queue_.clear();
  warps_ = 0;  // the first thread that waits creates the warps' records
}

void Rendezvous::make_records() {
  if (warps_ != 0) return;
  warps_ = ((count_ - 1) >> shift_) + 1;
  if (warp_.size() < warps_) warp_.resize(warps_);
  for (unsigned i = 0; i < warps_; ++i) {
    warp_[i].waiting = warp_[i].at_block = warp_[i].ready = warp_[i].converged = 0;
    warp_[i].access = warp_[i].round = {};
  }
}

void Rendezvous::arrive(Fiber* fiber) {
  make_records();
  const unsigned number = fiber->rank >> shift_, lane = fiber->rank & ((1u << shift_) - 1);
  Warp& warp = warp_[number];
  const Lanes bit = Lanes(1) << lane;
  Wait& wait = *fiber->wait;
  ++waiting_;
  if (wait.scope == Wait::block) {
    at_block_.push_back(fiber);
    warp.at_block |= bit;
  } else {
    warp.lane[lane] = fiber;
    warp.waiting |= bit;
    if (wait.scope == Wait::converged) {
      warp.converged |= bit;
    } else if (!(wait.mask & bit)) {
      // A GPU ignores this error: the lane continues alone.
      if (!Machine::get().strict) return release_lanes(warp, bit);
      describe(cudaErrorLaunchFailure,
               "%s at line %d: mask %#llx does not include the calling lane, %u", wait.name,
               wait.line, wait.mask, lane);
      abandon_kernel();
    } else if (release_if_complete(warp, number, wait.mask, wait.name)) {
      return;
    }
  }
  if (is_settled(warp, number)) release_converged(warp);
}

// Return true if all lanes that can still run are waiting, some of them at a call without a mask.
bool Rendezvous::is_settled(const Warp& warp, unsigned number) const {
  return warp.converged && !warp.ready && std::min((number + 1) << shift_, count_) <= started();
}

void Rendezvous::release_settled() {
  for (unsigned i = 0; i < warps_; ++i)
    if (is_settled(warp_[i], i)) release_converged(warp_[i]);
}

// Release the lanes in `mask`, if all unfinished lanes among them have arrived at the call `name`
// with this mask.
bool Rendezvous::release_if_complete(Warp& warp, unsigned number, Lanes mask, const char* name) {
  const unsigned first = number << shift_, width = 1u << shift_;
  const Lanes existing = lanes_below(std::min(width, count_ - first));
  const unsigned begun = started();
  const Lanes unstarted = existing & lanes_from(begun > first ? begun - first : 0);
  const Lanes needed = mask & existing;
  if (needed & (unstarted | (~warp.waiting & (warp.ready | warp.at_block)))) return false;
  Lanes here = 0;
  for_each_lane(needed & warp.waiting & ~warp.converged, [&](unsigned lane) {
    const Wait& wait = *warp.lane[lane]->wait;
    // Compare names as text: each library may have its own copy of the string.
    if (wait.mask == mask && (wait.name == name || std::strcmp(wait.name, name) == 0))
      here |= Lanes(1) << lane;
  });
  if (needed & ~here & warp.waiting) return false;
  release_lanes(warp, here);
  return true;
}

void Rendezvous::release_lanes(Warp& warp, Lanes lanes) {
  Wait* group[64] = {};
  Lanes true_votes = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    group[lane] = warp.lane[lane]->wait;
    if (group[lane]->predicate) true_votes |= Lanes(1) << lane;
  });
  for_each_lane(lanes, [&](unsigned lane) {
    Wait& wait = *group[lane];
    wait.arrived = lanes;
    wait.true_votes = true_votes;
    if (wait.finish) wait.finish(wait, group);
  });
  warp.waiting &= ~lanes;
  warp.converged &= ~lanes;
  warp.ready |= lanes;
  for_each_lane(lanes, [&](unsigned lane) {
    --waiting_;
    queue_.push_back(warp.lane[lane]);
  });
}

bool Rendezvous::release_complete(Warp& warp, unsigned number) {
  for (Lanes left = warp.waiting & ~warp.converged; left; left &= left - 1) {
    const Wait& wait = *warp.lane[__builtin_ctzll(left)]->wait;
    if (release_if_complete(warp, number, wait.mask, wait.name)) return true;
  }
  return false;
}

bool Rendezvous::release_converged(Warp& warp) {
  const auto first_of = [&](Lanes lanes) {
    const Wait* first = nullptr;
    for_each_lane(lanes, [&](unsigned lane) {
      const Wait* wait = warp.lane[lane]->wait;
      if (!first || is_before(*wait, *first)) first = wait;
    });
    return first;
  };
  const auto lanes_at = [&](const Wait& call) {
    Lanes here = 0;
    for_each_lane(warp.converged, [&](unsigned lane) {
      if (is_same_call(*warp.lane[lane]->wait, call)) here |= Lanes(1) << lane;
    });
    return here;
  };
  if (!warp.converged) return false;
  const Wait* first = first_of(warp.converged);
  Lanes here = lanes_at(*first);
  if (const Lanes others = warp.converged & ~here; others && is_spinning(warp, *first))
    here = lanes_at(*first_of(others));
  release_lanes(warp, here);
  return true;
}

bool Rendezvous::is_spinning(Warp& warp, const Wait& chosen) const {
  if (!chosen.chain) return false;
  Repeated& repeated = chosen.value ? warp.access : warp.round;
  const std::uintptr_t position = chosen.chain->innermost();
  const bool again = repeated.position == position && repeated.address == chosen.value;
  repeated = {position, chosen.value, again ? repeated.times + 1 : 0};
  return repeated.times >= (chosen.value ? spin_accesses : spin_rounds);
}

bool Rendezvous::release_block() {
  if (at_block_.size() != waiting_) return false;
  const Wait& first = *at_block_[0]->wait;
  unsigned long long true_votes = 0;
  for (const Fiber* fiber : at_block_) {
    const Wait& wait = *fiber->wait;
    if (wait.line != first.line || std::strcmp(wait.name, first.name) != 0) return false;
    true_votes += wait.predicate;
  }
  for (Fiber* fiber : at_block_) {
    fiber->wait->arrived = at_block_.size();
    fiber->wait->true_votes = true_votes;
  }
  queue_.swap(at_block_);
  at_block_.clear();
  head_ = 0;
  waiting_ = 0;
  for (unsigned i = 0; i < warps_; ++i) {
    warp_[i].ready = warp_[i].at_block;
    warp_[i].at_block = 0;
  }
  return true;
}

void Rendezvous::make_ready(Fiber* fiber) {
  make_records();
  warp_[fiber->rank >> shift_].ready |= Lanes(1) << (fiber->rank & ((1u << shift_) - 1));
  queue_.push_back(fiber);
}

Fiber* Rendezvous::take_ready() {
  if (head_ == queue_.size()) return nullptr;
  Fiber* fiber = queue_[head_++];
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  }
  warp_[fiber->rank >> shift_].ready &= ~(Lanes(1) << (fiber->rank & ((1u << shift_) - 1)));
  return fiber;
}

bool Rendezvous::resolve() {
  for (unsigned i = 0; i < warps_; ++i)
    if (release_complete(warp_[i], i)) return true;
  for (unsigned i = 0; i < warps_; ++i)
    if (release_converged(warp_[i])) return true;
  if (release_block()) return true;
  describe_deadlock();
  return false;
}

void Rendezvous::describe_deadlock() const {
  struct WaitSite {
    const Wait* wait;
    const Fiber* first;
    unsigned threads;
  };
  WaitSite sites[6] = {};
  std::size_t count = 0;
  bool more = false;
  const auto count_wait = [&](const Fiber* fiber) {
    const Wait& wait = *fiber->wait;
    for (std::size_t i = 0; i < count; ++i) {
      const Wait& known = *sites[i].wait;
      if (known.line == wait.line && known.mask == wait.mask &&
          std::strcmp(known.name, wait.name) == 0) {
        ++sites[i].threads;
        return;
      }
    }
    if (count < sizeof sites / sizeof *sites)
      sites[count++] = {&wait, fiber, 1};
    else
      more = true;
  };
  for (const Fiber* fiber : at_block_) count_wait(fiber);
  for (unsigned i = 0; i < warps_; ++i)
    for_each_lane(warp_[i].waiting, [&](unsigned lane) { count_wait(warp_[i].lane[lane]); });

  char text[768];
  std::size_t used = 0;
  const auto add = [&](int wrote) { used = std::min(used + std::size_t(wrote), sizeof text - 1); };
  for (std::size_t i = 0; i < count; ++i) {
    const WaitSite& site = sites[i];
    const uint3 t = value(site.first->thread_index);
    add(std::snprintf(text + used, sizeof text - used, "%s%s at line %d", i ? "; " : "",
                      site.wait->name, site.wait->line));
    if (site.wait->scope == Wait::lanes)
      add(std::snprintf(text + used, sizeof text - used, " with mask %#llx", site.wait->mask));
    add(std::snprintf(text + used, sizeof text - used, ": thread (%u, %u, %u)", t.x, t.y, t.z));
    if (site.threads > 1)
      add(std::snprintf(text + used, sizeof text - used, " and %u more", site.threads - 1));
  }
  PyGPU_host_thread.thread_index = sites[0].first->thread_index;
  describe(cudaErrorLaunchFailure,
           "deadlock: threads of the block wait at different calls and can never continue: %s%s",
           text, more ? "; and other calls" : "");
}

}  // namespace PyGPU::host
