// Waking, working and sleeping of the threads of a team. See thread_team.h.
#include "PyGPU/runtime/thread_team.h"

#include <algorithm>
#include <system_error>

#include "PyGPU/runtime/quiet_thread.h"

namespace PyGPU {
namespace {

constexpr std::chrono::microseconds watches_for{50}, least_pause{20}, most_pause{200};

}  // namespace

void wait_until(const std::function<bool()>& found, std::chrono::microseconds spins) {
  if (spin_until(found, spins)) return;
  for (auto pause = least_pause; !found(); pause = std::min(2 * pause, most_pause))
    std::this_thread::sleep_for(pause);
}

cudaError_t ThreadTeam::EndTraits::release(ThreadTeam* team) {
  team->end();
  return cudaSuccess;
}

void ThreadTeam::end() {
  ends_ = true;
  ++turn_;
  for (Member& member : members_) call(member, turn_);
  for (Member& member : members_) member.thread.join();
}

void ThreadTeam::start(unsigned count) {
  while (members_.size() + 1 < count) {
    Member& member = members_.emplace_back();
    member.turn = turn_.load();
    const auto number = unsigned(members_.size());
    try {
      member.thread = start_quiet_thread(
          [this, number, &member, turn = turn_.load()] { live(number, member, turn); });
    } catch (const std::system_error&) {  // no more threads: use those that there are
      members_.pop_back();
      return;
    } catch (...) {
      members_.pop_back();
      throw;
    }
  }
}

void ThreadTeam::live(unsigned number, Member& self, std::uint64_t seen) {
  begin_();
  for (;;) {
    const auto called = [&] { return self.turn > seen; };
    if (!spin_until(called, watches_for)) {
      std::unique_lock<std::mutex> hold(self.lock);
      self.sleeps = true;
      self.wakes.wait(hold, called);
      self.sleeps = false;
    }
    seen = self.turn;
    if (ends_) return;  // stored before the last turn, so whoever has seen that finds it
    ++inside_;          // before `work_` is read: finish() waits for whoever may have read it
    if (const Work* const work = work_) {
      // A late thread may begin a run before run() has called it: that call is then seen, too.
      seen = turn_;
      if (number < count_) (*work)(number);
    }
    --inside_;
  }
}

void ThreadTeam::call(Member& member, std::uint64_t turn) {
  member.turn = turn;
  if (!member.sleeps) return;
  // Without the lock, the call could come between the thread's last look and its sleep.
  { const std::lock_guard<std::mutex> hold(member.lock); }
  member.wakes.notify_one();
}

void ThreadTeam::finish() {
  work_ = nullptr;
  wait_until([this] { return inside_ == 0; }, watches_for);
}

void ThreadTeam::run(unsigned count, const Work& work) {
  if (count > 1) start(count);
  count_ = count;
  ++turn_;  // before `work_`: whoever finds the work finds its number
  work_ = &work;
  for (unsigned i = 1; i < count && i <= members_.size(); ++i) call(members_[i - 1], turn_);
  try {
    work(0);
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

}  // namespace PyGPU
