// Processor cores that this process may use.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace PyGPU {

// Return the number of cores that the affinity of the process and the quota of its control group
// allow, at least 1.
unsigned usable_cores();

// Return the cores of the NUMA node of a PCI device, such as "0000:3b:00.0", among those that the
// process may use. Empty if the system does not name the node, or if the node has all of them.
std::optional<cpu_set_t> cores_near(const std::string& pci_bus_id);

// Return the cores in a list of the kernel's form, such as "0-3,8,10-11". Unreadable parts are
// skipped.
cpu_set_t parse_core_list(const std::string& list);

}  // namespace PyGPU
