// Lists of cores, as the kernel writes them.
#include "PyGPU/runtime/cores.h"

#include <doctest/doctest.h>

#include <vector>

using namespace PyGPU;

namespace {

std::vector<int> cores_in(const std::string& list) {
  const cpu_set_t set = parse_core_list(list);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

using Cores = std::vector<int>;

}  // namespace

TEST_CASE("numbers and ranges") {
  CHECK(cores_in("0") == Cores{0});
  CHECK(cores_in("0-3,8,10-11") == Cores{0, 1, 2, 3, 8, 10, 11});
  CHECK(cores_in("3,1,1-2,2\n") == Cores{1, 2, 3});
  CHECK(cores_in("7-7") == Cores{7});
  CHECK(cores_in("1022-1023") == Cores{1022, 1023});
}

TEST_CASE("what has no cores") {
  for (const char* list : {"", "\n", ",", "-", "all", "5-3", "-4", "1024", "4096-5000"})
    CHECK_MESSAGE(cores_in(list).empty(), list);
}

TEST_CASE("unreadable parts are skipped") {
  CHECK(cores_in("x,2,y-z,4") == Cores{2, 4});
  CHECK(cores_in(" 1 , 2 ") == Cores{1, 2});
  CHECK(cores_in("1-,3") == Cores{3});
  CHECK(cores_in("1022-99999999999999999999999") == Cores{1022, 1023});
  CHECK(cores_in("99999999999999999999999,1") == Cores{1});
}

TEST_CASE("at least one core is usable, and not more than the affinity allows") {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  CHECK(usable_cores() >= 1);
  CHECK(usable_cores() <= unsigned(CPU_COUNT(&set)));
}

TEST_CASE("a device that the system does not name is near to all cores") {
  CHECK_FALSE(cores_near("").has_value());
  CHECK_FALSE(cores_near("ffff:ff:1f.7").has_value());
}
