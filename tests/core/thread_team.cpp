// Teams of threads: which calls a run makes, and what it leaves behind.
#include "PyGPU/runtime/thread_team.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

using namespace PyGPU;
using namespace std::chrono_literals;

namespace {

// Counts of the calls of one run, by number.
struct Calls {
  explicit Calls(unsigned count) : by_number(count) {}
  void operator()(unsigned number) { ++by_number.at(number); }
  std::vector<std::atomic<unsigned>> by_number;
};

// Run work of which each item is done by the first thread that takes it. Returns whether all items
// were done exactly once, and no number was called twice.
bool shares_work(ThreadTeam& team, unsigned count, int items) {
  std::vector<int> done(items);  // not atomic: ThreadSanitizer sees what run() does not order
  std::atomic<int> next{0};
  Calls calls(count);
  team.run(count, [&](unsigned number) {
    calls(number);
    for (int item; (item = next++) < items;) ++done[item];
  });
  bool is_right = calls.by_number[0] == 1;
  for (const auto& each : calls.by_number) is_right = is_right && each <= 1;
  for (const int times : done) is_right = is_right && times == 1;
  return is_right;
}

}  // namespace

TEST_CASE("a run of one is a call in this thread") {
  ThreadTeam team([] { FAIL("no thread is needed"); });
  const std::thread::id caller = std::this_thread::get_id();
  bool is_caller = false;
  Calls calls(1);
  team.run(1, [&](unsigned number) {
    calls(number);
    is_caller = std::this_thread::get_id() == caller;
  });
  CHECK(calls.by_number[0] == 1);
  CHECK(is_caller);
}

TEST_CASE("each number is called in a thread of its own") {
  std::atomic<int> begun{0};
  ThreadTeam team([&] { ++begun; });
  for (int turn = 0; turn < 3; ++turn) {
    std::mutex lock;
    std::set<std::thread::id> threads;
    std::atomic<unsigned> inside{0};
    Calls calls(4);
    team.run(4, [&](unsigned number) {
      calls(number);
      {
        const std::lock_guard<std::mutex> hold(lock);
        threads.insert(std::this_thread::get_id());
      }
      ++inside;
      wait_until([&] { return inside == 4; }, 50us);  // so that all begin
    });
    CHECK(threads.size() == 4);
    for (const auto& each : calls.by_number) CHECK(each == 1);
    std::this_thread::sleep_for(turn * 2ms);  // the threads sleep then
  }
  CHECK(begun == 3);
}

TEST_CASE("work in a row is done once, by changing numbers of threads") {
  ThreadTeam team([] {});
  int wrong = 0;
  for (unsigned turn = 0; turn < 20000; ++turn)
    wrong += !shares_work(team, 1 + turn * 7 % 5, int(turn % 11));
  CHECK(wrong == 0);
}

TEST_CASE("threads that sleep wake for the next run") {
  ThreadTeam team([] {});
  int wrong = 0;
  for (int turn = 0; turn < 300; ++turn) {
    // About as long as they watch, so that calls come while they fall asleep.
    std::this_thread::sleep_for(std::chrono::microseconds(turn));
    wrong += !shares_work(team, 3, 40);
  }
  CHECK(wrong == 0);
}

TEST_CASE("a late thread has one call of a run") {
  // Runs that end before the threads begin: they then find the next run, and its call later.
  ThreadTeam team([] {});
  unsigned twice = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    Calls calls(3);
    team.run(3, std::ref(calls));
    for (const auto& each : calls.by_number) twice += each > 1;
  }
  CHECK(twice == 0);
}

TEST_CASE("an exception of the caller's part comes after the others have ended") {
  ThreadTeam team([] {});
  for (int turn = 0; turn < 50; ++turn) {
    std::atomic<int> inside{0}, begun{0};
    const auto work = [&](unsigned number) {
      ++begun;
      if (number == 0) {
        wait_until([&] { return begun == 3; }, 50us);
        throw std::runtime_error("of work(0)");
      }
      ++inside;
      std::this_thread::sleep_for(1ms);
      --inside;
    };
    CHECK_THROWS_WITH_AS(team.run(3, work), "of work(0)", std::runtime_error);
    CHECK(inside == 0);
    CHECK(shares_work(team, 3, 100));
  }
}

TEST_CASE("a team ends whether its threads watch, sleep or have just begun") {
  for (int turn = 0; turn < 200; ++turn) {
    auto team = std::make_unique<ThreadTeam>([] {});
    CHECK(shares_work(*team, 1 + turn % 4, 5));
    if (turn % 3 == 0) std::this_thread::sleep_for(200us);
    team.reset();
  }
}

TEST_CASE("signals do not go to the threads") {
  ThreadTeam team([] {});
  std::atomic<int> begun{0}, blocked{0};
  team.run(3, [&](unsigned number) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    if (number) blocked += sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGINT);
    ++begun;
    wait_until([&] { return begun == 3; }, 50us);
  });
  CHECK(blocked == 2);
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  CHECK_FALSE(sigismember(&mask, SIGUSR1));
}
