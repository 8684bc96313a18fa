// How much memory the computer has, and how much of it a process may still take. See available.h.
#include "available.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

namespace PyGPU::host {
namespace {

// Some systems tell of no bytes where they will not tell: 0 is no number here.

// The number behind a word that begins a line; `missing` where there is none.
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

// A file's number, or `missing`: also where it says "max".
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

// The limits of a group and of those that it is in. In a container the group's own folder may not
// be there, and the container's limits are those at the top.
void limit_by_groups(ComputerMemory& memory, const std::string& mounted, std::string group,
                     const Names& names) {
  for (;;) {
    const std::string folder = mounted + group;
    const std::size_t limit = number_in(folder + names.limit, SIZE_MAX);
    if (limit < memory.total) memory.total = limit;
    if (limit != SIZE_MAX) {
      const std::size_t used = number_in(folder + names.used, 0);
      // Cached files count as used, but make way.
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
  // "4:memory:/group" in version 1 of control groups, "0::/group" in version 2.
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
