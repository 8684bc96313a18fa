// The cache of freed blocks, on the host machine (run with PYGPU_BLOCK_CACHE=1).
#include "PyGPU/runtime/block_cache.h"

#include <doctest/doctest.h>

#include <set>
#include <thread>
#include <vector>

#include "PyGPU/runtime/device.h"

using namespace PyGPU;

namespace {

void* allocate(std::size_t nbytes) {
  void* block = nullptr;
  REQUIRE(cudaMallocAsync(&block, nbytes, cudaStream_t()) == cudaSuccess);
  return block;
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return free;
}

}  // namespace

TEST_CASE("a block that was kept is taken by the next of its size, the last first") {
  CHECK(block_cache::take(0, 512) == nullptr);
  void *first = allocate(512), *second = allocate(512), *other = allocate(1024);
  for (void* block : {first, second}) CHECK(block_cache::keep(0, block, 512));
  CHECK(block_cache::keep(0, other, 1024));
  CHECK(block_cache::take(0, 513) == nullptr);
  CHECK(block_cache::take(0, 512) == second);
  CHECK(block_cache::take(0, 512) == first);
  CHECK(block_cache::take(0, 512) == nullptr);
  CHECK(block_cache::take(0, 1024) == other);
  for (void* block : {first, second, other})
    CHECK(cudaFreeAsync(block, cudaStream_t()) == cudaSuccess);
}

TEST_CASE("large blocks and unknown devices are not kept") {
  void* block = allocate((64 << 20) + 1);
  CHECK_FALSE(block_cache::keep(0, block, (64 << 20) + 1));
  CHECK_FALSE(block_cache::keep(max_devices, block, 16));
  CHECK(block_cache::take(max_devices, 16) == nullptr);
  CHECK(cudaFreeAsync(block, cudaStream_t()) == cudaSuccess);
}

TEST_CASE("there is room for few, and all go back on request") {
  const std::size_t before = free_memory();
  std::set<void*> blocks;
  for (int i = 0; i < 65; ++i) blocks.insert(allocate(4096));
  CHECK(blocks.size() == 65);
  for (void* block : blocks) CHECK(block_cache::keep(0, block, 4096));
  CHECK(free_memory() == before - 33 * 4096);  // at the 65th, the 32 that came first went back
  block_cache::give_back(0);
  CHECK(free_memory() == before);
  CHECK(block_cache::take(0, 4096) == nullptr);
}

TEST_CASE("a reset of the device takes what is kept") {
  CHECK(block_cache::keep(0, allocate(64), 64));
  REQUIRE_FALSE(reset_device().failed());
  CHECK(block_cache::take(0, 64) == nullptr);
}

TEST_CASE("no block is given to two threads") {
  constexpr int count = 4;
  std::vector<std::thread> threads;
  std::vector<int> clashes(count);
  for (int number = 0; number < count; ++number)
    threads.emplace_back([&clashes, number] {
      for (int round = 0; round < 2000; ++round) {
        void* block = block_cache::take(0, 256);
        if (!block && cudaMallocAsync(&block, 256, cudaStream_t()) != cudaSuccess) continue;
        auto* value = static_cast<volatile int*>(block);
        *value = number;
        std::this_thread::yield();
        clashes[std::size_t(number)] += *value != number;
        if (!block_cache::keep(0, block, 256)) ++clashes[std::size_t(number)];
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(clashes == std::vector<int>(count));
  block_cache::give_back(0);
}
