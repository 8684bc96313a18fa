// The order of streams: what delays what, deferred items, and the end of every item.
#include "host/order.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

using namespace PyGPU::host;

namespace {

struct Streams {
  cudaStream_t blocking = nullptr, other = nullptr, apart = nullptr, second = nullptr;
  Streams() {
    for (cudaStream_t* stream : {&blocking, &other})
      REQUIRE(cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithPriority(&apart, cudaStreamNonBlocking, 0) == cudaSuccess);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithPriority(&second, cudaStreamDefault, 0) == cudaSuccess);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
  }
};

// Return true if work that is enqueued on the stream now could run at once.
bool is_free(cudaStream_t stream) {
  const std::lock_guard<std::mutex> hold(Machine::get().lock);
  Item item;
  item.lane = *find_lane(stream);
  return is_ready(item);
}

// Call `body` while another thread's work runs on the stream.
template <class Body>
void while_busy(cudaStream_t stream, Body body) {
  std::atomic<bool> runs{false}, ends{false};
  std::thread thread([&] {
    (void)in_order(stream, [&] {
      runs = true;
      while (!ends) std::this_thread::yield();
      return cudaSuccess;
    });
  });
  while (!runs) std::this_thread::yield();
  body();
  ends = true;
  thread.join();
  CHECK(is_free(stream));
}

}  // namespace

TEST_CASE("the null stream and blocking streams of a device delay each other") {
  const Streams s;
  const cudaStream_t all[] = {nullptr, cudaStreamLegacy, cudaStreamPerThread, s.blocking, s.other,
                              s.apart, s.second};
  const bool expected[][7] = {
      // which of `all` are free while work runs on:
      {false, false, false, false, false, true, true},  // the null stream
      {false, false, false, false, false, true, true},
      {false, false, true, true, true, true, true},  // another thread's per-thread stream
      {false, false, true, false, true, true, true},
      {false, false, true, true, false, true, true},
      {true, true, true, true, true, false, true},
      {true, true, true, true, true, true, false},  // a stream of another device
  };
  for (int busy = 0; busy < 7; ++busy)
    while_busy(all[busy], [&] {
      for (int asked = 0; asked < 7; ++asked) {
        CAPTURE(busy);
        CAPTURE(asked);
        CHECK(is_free(all[asked]) == expected[busy][asked]);
      }
    });
}

TEST_CASE("no increment of many threads is lost") {
  const Streams s;
  for (const auto& pair : {std::pair{s.blocking, s.blocking}, std::pair{s.blocking, cudaStream_t()},
                           std::pair{s.apart, s.apart}}) {
    constexpr int threads = 8, rounds = 500;
    volatile int count = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&, stream = i % 2 ? pair.first : pair.second] {
        for (int round = 0; round < rounds; ++round)
          (void)in_order(stream, [&] {
            count = count + 1;
            return cudaSuccess;
          });
      });
    for (std::thread& thread : all) thread.join();
    CHECK(count == threads * rounds);
  }
}

TEST_CASE("an item ends by an error and by an exception") {
  const Streams s;
  CHECK(in_order(s.blocking, [] { return cudaErrorLaunchFailure; }) == cudaErrorLaunchFailure);
  CHECK(is_free(s.blocking));
  CHECK_THROWS_AS((void)in_order(s.blocking, []() -> cudaError_t { throw std::bad_alloc(); }),
                  std::bad_alloc);
  CHECK(is_free(s.blocking));
  CHECK(is_free(nullptr));
}

TEST_CASE("a stream that does not exist has no order") {
  const auto wrong = reinterpret_cast<cudaStream_t>(64);
  bool ran = false;
  CHECK(in_order(wrong, [&] {
          ran = true;
          return cudaSuccess;
        }) == cudaErrorInvalidResourceHandle);
  CHECK_FALSE(ran);
}

TEST_CASE("a call inside another call of its thread runs at once") {
  const Streams s;
  int depth = 0;
  (void)in_order(s.blocking, [&] {
    CHECK(wait_until_ready({}) == cudaSuccess);
    return in_order(nullptr, [&] {
      ++depth;
      return in_order(s.blocking, [&] {
        ++depth;
        return cudaSuccess;
      });
    });
  });
  CHECK(depth == 2);
  CHECK(is_free(nullptr));
}

TEST_CASE("deferred items run in their order when the work before them has ended") {
  const Streams s;
  std::vector<int> ran;
  std::uint64_t last = 0;
  while_busy(s.blocking, [&] {
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    for (int i = 0; i < 100; ++i) {
      Item item;
      item.lane = *find_lane(s.blocking);
      const std::uint64_t number = defer(item, [&ran, i](std::uint64_t) { ran.push_back(i); });
      CHECK(number > last);
      last = number;
    }
    CHECK(ran.empty());
  });
  REQUIRE(ran.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(ran[std::size_t(i)] == i);
}

TEST_CASE("a stream waits for an event of another") {
  const Streams s;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, 0) == cudaSuccess);
  while_busy(s.apart, [&] {
    CHECK(cudaEventRecord(event, s.apart) == cudaSuccess);
    CHECK(cudaEventQuery(event) == cudaErrorNotReady);
    CHECK(cudaStreamWaitEvent(s.other, event, 0) == cudaSuccess);
    CHECK_FALSE(is_free(s.other));
    CHECK(is_free(s.blocking));
  });
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(is_free(s.other));
  CHECK(cudaEventDestroy(event) == cudaSuccess);
}

TEST_CASE("a resource is released when no work may use it") {
  const Streams s;
  std::atomic<bool> released{false};
  const auto release = [&released] { released = true; };
  CHECK(release_after(Item::Scope::device, 0, release) == cudaSuccess);
  CHECK(released);
  released = false;
  std::thread waiting;
  while_busy(s.apart, [&] {
    CHECK(release_after(Item::Scope::device, 1, [] {}) == cudaSuccess);  // of another device
    waiting = std::thread([&] { (void)release_after(Item::Scope::everything, 1, release); });
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    CHECK_FALSE(released);
  });
  waiting.join();
  CHECK(released);
}
