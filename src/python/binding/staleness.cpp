// Warning at import if the checkout's sources are others than those of this module: then the Python
// files may not fit it.
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <system_error>

#include "python/binders.h"

namespace PyGPU::python {
namespace fs = std::filesystem;

// Return whether the C++ files in a folder have another CRC than those of the build (setup.py).
static bool differ(const fs::path& folder) {
  std::error_code none;
  std::set<std::string> sources;  // in the order of their names
  for (const auto& one : fs::recursive_directory_iterator(folder, none))
    if (const auto end = one.path().extension(); end == ".h" || end == ".cpp")
      sources.insert(one.path());
  py::object sum = py::int_(0);
  for (const std::string& path : sources) {
    std::ifstream file(path);
    using Bytes = std::istreambuf_iterator<char>;
    sum = module_::import("binascii").attr("crc32")(py::bytes(std::string(Bytes(file), {})), sum);
  }
  return !sources.empty() && !sum.equal(py::int_(PYGPU_SOURCES));
}

void warn_if_stale() {
  Dl_info found;
  if (!dladdr(reinterpret_cast<void*>(&differ), &found)) return;
  const fs::path module = found.dli_fname, root = module.parent_path().parent_path();
  // git writes its index at each pull and checkout, so a newer build needs no search.
  fs::path git = root / ".git";
  std::ifstream link(git);  // of a work tree: a file with the path of the folder
  if (std::string word, path; link >> word >> std::ws && std::getline(link, path))
    git = root / path;
  std::error_code none;
  const auto index = fs::last_write_time(git / "index", none);
  if (none || index <= fs::last_write_time(module, none) || !differ(root / "src/python")) return;
  const std::string text = module.string() +
                           " was built from other sources, so it may not fit the Python "
                           "files: build PyGPU again with 'pip install -e .'";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1)) throw py::error_already_set();
}

}  // namespace PyGPU::python
