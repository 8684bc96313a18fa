// Physical memory and memory limits of the computer, read from Linux's files. See available.h.
#include "available.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

namespace PyGPU::host {
namespace {

// Some systems report 0 bytes for a value that they do not disclose. The functions below treat 0 as
// missing.

// Return the number after `word` at the start of a line, or `missing` if no line has one.
std::size_t number_after(const std::string& path, const std::string& word, std::size_t missing) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    std::size_t number = 0;
    if (words >> first >> number && first == word && number) return number;
  }
  return missing;
}

// Return the number in a file, or `missing` if the file has no number (control groups write "max").
std::size_t number_in(const std::string& path, std::size_t missing) {
  std::size_t number = 0;
  return std::ifstream(path) >> number && number ? number : missing;
}

struct Names {
  const char *limit, *used, *reclaimable;
};
constexpr Names version_1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                             "total_inactive_file"};
constexpr Names version_2 = {"/memory.max", "/memory.current", "inactive_file"};

// Apply the memory limits of a control group and of its parent groups.
//
// In a container, the group's own folder may be missing. The container's limits are then in the top
// folder.
void limit_by_groups(ComputerMemory& memory, const std::string& mounted, std::string group,
                     const Names& names) {
  for (;;) {
    const std::string folder = mounted + group;
    const std::size_t limit = number_in(folder + names.limit, SIZE_MAX);
    if (limit < memory.total) memory.total = limit;
    if (limit != SIZE_MAX) {
      const std::size_t used = number_in(folder + names.used, 0);
      // The kernel counts cached files as used memory, but frees them when memory is needed.
      const std::size_t cached = number_after(folder + "/memory.stat", names.reclaimable, 0);
      const std::size_t taken = used - std::min(used, cached);
      memory.available = std::min(memory.available, limit - std::min(limit, taken));
    }
    if (group.empty() || group == "/") return;
    group.erase(group.rfind('/'));
  }
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

ComputerMemory computer_memory(const std::string& root) {
  const std::string info = root + "/proc/meminfo";
  const long pages = sysconf(_SC_PHYS_PAGES);
  const std::size_t physical =
      pages > 0 ? std::size_t(pages) * std::size_t(sysconf(_SC_PAGESIZE)) : std::size_t(1) << 40;
  ComputerMemory memory;
  memory.total = number_after(info, "MemTotal:", physical >> 10) << 10;
  memory.available = number_after(info, "MemAvailable:", memory.total >> 10) << 10;
  // Lines are "4:memory:/group" for control groups version 1 and "0::/group" for version 2.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      limit_by_groups(memory, root + "/sys/fs/cgroup", group, version_2);
    else if (has_word(controllers, "memory"))
      limit_by_groups(memory, root + "/sys/fs/cgroup/memory", group, version_1);
  }
  memory.available = std::min(memory.available, memory.total);
  return memory;
}

}  // namespace PyGPU::host
