// Affinity, quotas and NUMA nodes of processor cores. See cores.h.
#include "PyGPU/runtime/cores.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "PyGPU/runtime/system_files.h"

namespace PyGPU {
namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set)) CPU_ZERO(&set);
  return set;
}

// Return the cores that the control group's quota of time amounts to; 0: no quota is known. The
// files are those that a container sees: of version 2, then of version 1.
unsigned quota() {
  long long quota = 0, period = 0;
  if (std::sscanf(first_line("/sys/fs/cgroup/cpu.max").c_str(), "%lld %lld", &quota, &period) < 2) {
    const std::string folder = "/sys/fs/cgroup/cpu/cpu.cfs_";
    quota = std::atoll(first_line(folder + "quota_us").c_str());
    period = std::atoll(first_line(folder + "period_us").c_str());
  }
  return quota > 0 && period > 0 ? unsigned(std::clamp(quota / period, 1LL, 1LL << 20)) : 0;
}

}  // namespace

unsigned usable_cores() {
  const cpu_set_t set = affinity();  // empty if the computer has more cores than a cpu_set_t
  const long counted = CPU_COUNT(&set) ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  const unsigned allowed = unsigned(std::max(counted, 1L)), limit = quota();
  return limit ? std::min(limit, allowed) : allowed;
}

cpu_set_t parse_core_list(const std::string& list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const char* at = list.c_str(); *at;) {
    char* end = nullptr;
    long first = std::strtol(at, &end, 10), last = first;
    if (end == at) {
      ++at;
      continue;
    }
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    for (; first <= last && first >= 0 && first < CPU_SETSIZE; ++first) CPU_SET(first, &set);
    at = end;
  }
  return set;
}

std::optional<cpu_set_t> cores_near(const std::string& pci_bus_id) {
  std::string name = pci_bus_id;
  for (char& letter : name) letter = char(std::tolower(static_cast<unsigned char>(letter)));
  const std::string text = first_line("/sys/bus/pci/devices/" + name + "/numa_node");
  const int node = text.empty() ? -1 : std::atoi(text.c_str());
  if (node < 0) return {};
  const std::string folder = "/sys/devices/system/node/node" + std::to_string(node);
  const cpu_set_t of_node = parse_core_list(first_line(folder + "/cpulist")), usable = affinity();
  cpu_set_t both;
  CPU_AND(&both, &of_node, &usable);
  if (CPU_COUNT(&both) == 0 || CPU_EQUAL(&both, &usable)) return {};
  return both;
}

}  // namespace PyGPU
