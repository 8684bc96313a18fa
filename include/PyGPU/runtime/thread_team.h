// Team of threads that help the calling thread with short work.
//
// The threads stay between runs. After a run, a thread watches for the next one for 50 us, so that
// runs in a row start within a microsecond or two; then it sleeps and uses no processor time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "unique_handle.h"

namespace PyGPU {

// Tell the processor that this thread waits in a loop.
inline void relax_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Call `found()` in a loop until it is true or the time is over. Returns whether it was true.
template <class Found>
bool spin_until(Found found, std::chrono::microseconds spins) {
  const auto end = std::chrono::steady_clock::now() + spins;
  for (unsigned looks = 1;; ++looks) {
    if (found()) return true;
    relax_processor();
    if (looks % 16 == 0 && std::chrono::steady_clock::now() > end) return false;
  }
}

// Wait until `found()` is true: in a loop for `spins`, then with sleeps in between, so that the
// threads of a busy computer do not keep the one that they wait for from a core.
void wait_until(const std::function<bool()>& found, std::chrono::microseconds spins);

class ThreadTeam {
 public:
  using Work = std::function<void(unsigned number)>;

  // `begin` runs once in each new thread.
  explicit ThreadTeam(std::function<void()> begin) : begin_(std::move(begin)) {}
  ThreadTeam(const ThreadTeam&) = delete;

  // Call `work(0)` in this thread and `work(1)` to `work(count - 1)` in the team's. Returns when
  // all calls have returned, and rethrows an exception of work(0); the others must not throw. A
  // thread that has not begun when work(0) returns does not begin: whatever it would have done must
  // then have been done by the others. Only one thread at a time may call this.
  void run(unsigned count, const Work& work);

 private:
  struct Member {
    std::atomic<std::uint64_t> turn{0};  // number of the last run to take part in
    std::atomic<bool> sleeps{false};
    std::mutex lock;
    std::condition_variable wakes;
    std::thread thread;
  };

  // Ends the threads with the team.
  struct EndTraits {
    using Handle = ThreadTeam*;
    static constexpr const char* name = "a team of threads";
    static cudaError_t release(ThreadTeam* team);
  };

  void end();
  void start(unsigned count);
  void live(unsigned number, Member& self, std::uint64_t seen);
  void call(Member& member, std::uint64_t turn);
  void finish();

  const std::function<void()> begin_;
  std::deque<Member> members_;          // the first is number 1
  std::atomic<std::uint64_t> turn_{0};  // number of the last run
  std::atomic<const Work*> work_{nullptr};
  std::atomic<unsigned> count_{0}, inside_{0};
  std::atomic<bool> ends_{false};
  UniqueHandle<EndTraits> threads_{this};  // the last member: the threads use the others
};

}  // namespace PyGPU
