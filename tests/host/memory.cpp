// The memory table, against a naive list of allocations.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "PyGPU/vendor/host_modules.h"
#include "host/machine.h"

using namespace PyGPU::host;

namespace {

struct Known {
  char* address;
  std::size_t nbytes;  // accessible
};

bool holds(const std::vector<Known>& all, const char* address, std::size_t nbytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  for (const Known& one : all) {
    const auto start = reinterpret_cast<std::uintptr_t>(one.address);
    if (first >= start && first < start + one.nbytes && nbytes <= start + one.nbytes - first)
      return true;
  }
  return false;
}

std::size_t used() {
  std::size_t free = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return total - free;
}

}  // namespace

TEST_CASE("the table finds what a naive list finds") {
  std::mt19937 random(1);
  std::vector<Known> known;
  const auto below = [&](std::size_t limit) { return std::size_t(random()) % limit; };
  const std::size_t before = used();
  for (int round = 0; round < 2000; ++round) {
    if (known.empty() || below(5) < 3) {
      const std::size_t nbytes = 1 + below(below(2) ? 5000 : 50);
      void* address = nullptr;
      REQUIRE(cudaMalloc(&address, nbytes) == cudaSuccess);
      known.push_back({static_cast<char*>(address), (nbytes + 511) / 512 * 512});
    } else {
      const std::size_t chosen = below(known.size());
      REQUIRE(cudaFree(known[chosen].address) == cudaSuccess);
      CHECK(cudaFree(known[chosen].address) == cudaErrorInvalidValue);
      known.erase(known.begin() + std::ptrdiff_t(chosen));
    }
    for (int i = 0; i < 10 && !known.empty(); ++i) {
      const Known& near = known[below(known.size())];
      const char* const address = reinterpret_cast<const char*>(
          reinterpret_cast<std::uintptr_t>(near.address) + below(near.nbytes + 700) - 300);
      const std::size_t nbytes = below(near.nbytes + 300);
      CHECK(Machine::get().device_can_access(address, nbytes) == holds(known, address, nbytes));
    }
  }
  std::size_t expected = before;
  for (const Known& one : known) expected += one.nbytes;
  CHECK(used() == expected);
  for (const Known& one : known) REQUIRE(cudaFree(one.address) == cudaSuccess);
  CHECK(used() == before);
}

TEST_CASE("lengths that overflow are in no allocation") {
  void* address = nullptr;
  REQUIRE(cudaMalloc(&address, 100) == cudaSuccess);
  for (const std::size_t nbytes : {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX / 2, std::size_t(513)})
    CHECK_FALSE(Machine::get().device_can_access(address, nbytes));
  CHECK(Machine::get().device_can_access(address, 512));
  CHECK(cudaFree(address) == cudaSuccess);
}

TEST_CASE("imports may overlap and end one by one") {
  std::vector<char> memory(1000);
  Machine& machine = Machine::get();
  REQUIRE(cudaHostImport(memory.data(), 1000) == cudaSuccess);
  REQUIRE(cudaHostImport(memory.data(), 200) == cudaSuccess);
  REQUIRE(cudaHostImport(memory.data() + 100, 300) == cudaSuccess);
  CHECK(machine.device_can_access(memory.data() + 900, 100));
  CHECK_FALSE(machine.device_can_access(memory.data() + 900, 101));
  CHECK(cudaHostEndImport(memory.data(), 999) == cudaErrorInvalidValue);
  CHECK(cudaHostEndImport(memory.data(), 1000) == cudaSuccess);
  CHECK_FALSE(machine.device_can_access(memory.data() + 900, 100));
  CHECK(machine.device_can_access(memory.data() + 350, 50));
  CHECK(machine.device_can_access(memory.data() + 150, 50));
  CHECK(cudaHostEndImport(memory.data(), 200) == cudaSuccess);
  CHECK(cudaHostEndImport(memory.data() + 100, 300) == cudaSuccess);
  CHECK_FALSE(machine.device_can_access(memory.data() + 150, 1));
}

TEST_CASE("registered memory is neither registered twice nor freed") {
  std::vector<char> memory(4096);
  CHECK(cudaHostRegister(memory.data(), 4096, 0) == cudaSuccess);
  CHECK(cudaHostRegister(memory.data() + 10, 10, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaFreeHost(memory.data()) == cudaErrorInvalidValue);
  CHECK(cudaFree(memory.data()) == cudaErrorInvalidValue);
  CHECK(cudaHostUnregister(memory.data() + 10) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaHostUnregister(memory.data()) == cudaSuccess);
}

TEST_CASE("a write past the end is seen") {
  void* address = nullptr;
  REQUIRE(cudaMalloc(&address, 512) == cudaSuccess);
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  Machine& machine = Machine::get();
  char* const end = static_cast<char*>(address) + 512;
  const char before = end[5];
  CHECK_FALSE(is_overrun(first, *machine.find(address)));
  end[5] = char(~before);
  CHECK(is_overrun(first, *machine.find(address)));
  end[5] = before;
  CHECK_FALSE(is_overrun(first, *machine.find(address)));
  CHECK(cudaFree(address) == cudaSuccess);
}
