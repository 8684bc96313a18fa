// Barriers and warp functions: which waiting threads of a block continue, without running fibers.
#include "host/rendezvous.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "host/fault.h"

using namespace PyGPU::host;

namespace {

// A block whose threads start in the order of their ranks. A thread that started and neither waits
// nor is ready has finished.
struct TestBlock {
  Rendezvous rendezvous;
  std::vector<Fiber> fibers;
  std::deque<Wait> waits;
  Fault fault;

  explicit TestBlock(unsigned threads, unsigned warp = 32) : fibers(threads) {
    PyGPUHostThread& self = PyGPU_host_thread;
    self = {};
    self.block_dim = {index(threads), index(1), index(1)};
    self.warp_size = index(warp);
    self.row_end = index(threads);
    self.next_x = index(0);
    fault_of_thread = &fault;
    kernel_of_thread = "f";
    for (unsigned i = 0; i < threads; ++i) {
      fibers[i].rank = i;
      fibers[i].thread_index = {index(i), index(0), index(0)};
    }
    rendezvous.begin();
  }

  Wait& arrive(unsigned rank, Wait::Scope scope, int line, const char* name,
               unsigned long long mask = 0, bool predicate = false) {
    waits.push_back(
        {scope, line, name, mask, predicate, nullptr, nullptr, nullptr, 0, 0, 0, nullptr});
    fibers[rank].wait = &waits.back();
    start(rank + 1);
    rendezvous.arrive(&fibers[rank]);
    return waits.back();
  }

  // Start the threads below `count`.
  static void start(unsigned count) {
    Index& next = PyGPU_host_thread.next_x;
    next = std::max(next, index(count));
  }

  // Ranks of the threads that may continue.
  std::vector<unsigned> ready() {
    std::vector<unsigned> ranks;
    while (const Fiber* fiber = rendezvous.take_ready()) ranks.push_back(fiber->rank);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }
};

using Ranks = std::vector<unsigned>;

}  // namespace

TEST_CASE("a barrier of the block waits for all threads that have not finished") {
  for (unsigned threads : {1u, 31u, 32u, 33u, 100u, 1024u}) {
    TestBlock block(threads);
    Wait* last = nullptr;
    for (unsigned i = 0; i < threads; ++i) {
      CHECK(block.ready().empty());
      last = &block.arrive(i, Wait::block, 7, "__syncthreads_count", 0, i % 3 == 0);
    }
    CHECK(block.rendezvous.resolve());
    CHECK(block.ready().size() == threads);
    CHECK(last->arrived == threads);
    CHECK(last->true_votes == (threads + 2) / 3);
    CHECK(block.rendezvous.is_empty());
  }
}

TEST_CASE("finished threads are not waited for") {
  TestBlock block(64);
  for (unsigned i = 40; i < 64; ++i) block.arrive(i, Wait::block, 7, "__syncthreads");
  CHECK(block.rendezvous.resolve());
  CHECK(block.ready().size() == 24);
}

TEST_CASE("a call with a mask continues when its lanes have arrived") {
  for (unsigned warp : {32u, 64u}) {
    TestBlock block(2 * warp, warp);
    const unsigned long long mask = 0b1011;
    block.arrive(warp + 0, Wait::lanes, 3, "__ballot_sync", mask, true);
    const Wait& second = block.arrive(warp + 1, Wait::lanes, 3, "__ballot_sync", mask, false);
    CHECK(block.ready().empty());
    block.arrive(warp + 3, Wait::lanes, 3, "__ballot_sync", mask, true);
    CHECK(block.ready() == Ranks{warp, warp + 1, warp + 3});
    CHECK(second.arrived == mask);
    CHECK(second.true_votes == 0b1001);
  }
}

TEST_CASE("calls with other masks are apart") {
  TestBlock block(32);
  block.arrive(0, Wait::lanes, 3, "__syncwarp", 0b0101);
  block.arrive(1, Wait::lanes, 3, "__syncwarp", 0b1010);
  CHECK(block.ready().empty());
  block.arrive(2, Wait::lanes, 9, "__syncwarp", 0b0101);
  CHECK(block.ready() == Ranks{0, 2});
  block.arrive(3, Wait::lanes, 3, "__syncwarp", 0b1010);
  CHECK(block.ready() == Ranks{1, 3});
}

TEST_CASE("a call with a mask does not wait for finished lanes, but for ready ones") {
  TestBlock block(32);
  block.arrive(0, Wait::lanes, 3, "__syncwarp", 0b111);
  block.start(32);
  block.rendezvous.make_ready(&block.fibers[1]);
  block.arrive(2, Wait::lanes, 3, "__syncwarp", 0b111);
  CHECK(block.ready() == Ranks{1});
  CHECK(block.rendezvous.resolve());  // lane 1 has finished
  CHECK(block.ready() == Ranks{0, 2});
}

TEST_CASE("calls without a mask: the first in the source continues first") {
  TestBlock block(4);
  block.arrive(0, Wait::converged, 20, "__activemask");
  block.arrive(1, Wait::converged, 10, "__activemask");
  block.arrive(2, Wait::converged, 20, "__activemask");
  CHECK(block.ready().empty());  // the last lane may still come
  const Wait& last = block.arrive(3, Wait::converged, 10, "__activemask");
  CHECK(block.ready() == Ranks{1, 3});
  CHECK(last.arrived == 0b1010);
  CHECK(block.rendezvous.resolve());
  CHECK(block.ready() == Ranks{0, 2});
}

TEST_CASE("waits that can never end are a deadlock, which is described") {
  TestBlock block(64);
  block.arrive(0, Wait::block, 5, "__syncthreads");
  for (unsigned i = 1; i < 64; ++i) block.arrive(i, Wait::block, 8, "__syncthreads");
  CHECK_FALSE(block.rendezvous.resolve());
  CHECK(block.ready().empty());
  CHECK(block.fault.code == cudaErrorLaunchFailure);
  const std::string text = block.fault.text;
  CHECK(text.find("kernel f") != std::string::npos);
  CHECK(text.find("__syncthreads at line 5: thread (0, 0, 0)") != std::string::npos);
  CHECK(text.find("__syncthreads at line 8: thread (1, 0, 0) and 62 more") != std::string::npos);
}

TEST_CASE("records of a block do not outlast it") {
  TestBlock block(64);
  block.arrive(5, Wait::lanes, 3, "__syncwarp", 0b111111);
  block.rendezvous.begin();
  CHECK(block.rendezvous.is_empty());
  CHECK(block.ready().empty());
  for (unsigned i = 0; i < 64; ++i) block.arrive(i, Wait::block, 7, "__syncthreads");
  CHECK(block.rendezvous.resolve());
  CHECK(block.ready().size() == 64);
}
