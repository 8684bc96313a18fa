// Affinity, quotas and NUMA nodes of processor cores. See cores.h.
#include "PyGPU/runtime/cores.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace PyGPU {
namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set)) CPU_ZERO(&set);
  return set;
}

std::string first_line(const std::string& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

// Return the cores that the control group's quota of time amounts to; 0: no quota is known. The
// files are those that a container sees: of version 2, then of version 1.
unsigned quota() {
  double quota = 0, period = 0;
  std::istringstream both(first_line("/sys/fs/cgroup/cpu.max"));
  if (!(both >> quota >> period)) {
    const std::string folder = "/sys/fs/cgroup/cpu/";
    std::istringstream(first_line(folder + "cpu.cfs_quota_us")) >> quota;
    std::istringstream(first_line(folder + "cpu.cfs_period_us")) >> period;
  }
  return quota > 0 && period > 0 ? std::max(1u, unsigned(quota / period)) : 0;
}

}  // namespace

unsigned usable_cores() {
  const cpu_set_t set = affinity();
  const unsigned allowed = std::max(CPU_COUNT(&set), 1), limit = quota();
  return limit ? std::min(limit, allowed) : allowed;
}

cpu_set_t parse_core_list(const std::string& list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream range(part);
    int first = 0, last = 0;
    if (!(range >> first)) continue;
    last = range.get() == '-' && range >> last ? last : first;
    for (int core = std::max(first, 0); core <= last && core < CPU_SETSIZE; ++core)
      CPU_SET(core, &set);
  }
  return set;
}

std::optional<cpu_set_t> cores_near(const std::string& pci_bus_id) {
  std::string name = pci_bus_id;
  for (char& letter : name) letter = char(std::tolower(static_cast<unsigned char>(letter)));
  int node = -1;
  std::istringstream(first_line("/sys/bus/pci/devices/" + name + "/numa_node")) >> node;
  if (node < 0) return {};
  const std::string folder = "/sys/devices/system/node/node" + std::to_string(node);
  const cpu_set_t of_node = parse_core_list(first_line(folder + "/cpulist")), usable = affinity();
  cpu_set_t both;
  CPU_AND(&both, &of_node, &usable);
  if (CPU_COUNT(&both) == 0 || CPU_EQUAL(&both, &usable)) return {};
  return both;
}

}  // namespace PyGPU
