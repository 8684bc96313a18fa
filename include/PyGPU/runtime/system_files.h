// Small files by which the system describes itself.
#pragma once

#include <cstdio>
#include <string>

namespace PyGPU {

// Return the first line of a file, at most 4095 bytes; empty if the file cannot be read. C's
// functions read it, because C++ streams would double the size of the low level.
inline std::string first_line(const std::string& path) {
  char line[4096] = "";
  if (std::FILE* const file = std::fopen(path.c_str(), "re")) {
    if (!std::fgets(line, sizeof line, file)) line[0] = 0;
    std::fclose(file);
  }
  return line;
}

}  // namespace PyGPU
