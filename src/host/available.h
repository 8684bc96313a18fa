// Memory of the computer, and the part of it that this process can still allocate.
#pragma once

#include <cstddef>
#include <string>

namespace PyGPU::host {

struct ComputerMemory {
  std::size_t total, available;
};

// Return the memory that Linux reports, reduced to the limits of this process's control groups (set
// by containers and batch systems). `root` is the folder that holds /proc and /sys; tests set it.
ComputerMemory computer_memory(const std::string& root = "");

}  // namespace PyGPU::host
