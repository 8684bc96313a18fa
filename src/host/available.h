// How much memory the computer has, and how much of it a process may still take.
#pragma once

#include <cstddef>
#include <string>

namespace PyGPU::host {

struct ComputerMemory {
  std::size_t total, available;
};

// What Linux states, and the limits of the control groups (containers, batch systems) that this
// process is in. `root` is where the files of the system are.
ComputerMemory computer_memory(const std::string& root = "");

}  // namespace PyGPU::host
