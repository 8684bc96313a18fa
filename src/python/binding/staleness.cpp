// Warning at import if the checkout's sources are others than those of this module: then the Python
// files may not fit it.
#include <dlfcn.h>
#include <ftw.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "python/binders.h"

namespace PyGPU::python {
namespace {

std::vector<std::string> sources;

int add_source(const char* path, const struct stat*, int type, FTW*) {
  const std::string name = path, end = name.substr(name.rfind('.') + 1);
  if (type == FTW_F && (end == "h" || end == "cpp")) sources.push_back(name);
  return 0;
}

// Return the CRC of the C++ files in a folder, in the order of their names, as setup.py does.
py::object checksum_of(const std::string& folder) {
  sources.clear();
  nftw(folder.c_str(), add_source, 16, FTW_PHYS);
  std::sort(sources.begin(), sources.end());
  const py::object crc = module_::import("binascii").attr("crc32");
  py::object sum = py::int_(0);
  for (const std::string& path : sources) {
    std::ifstream file(path);
    using Bytes = std::istreambuf_iterator<char>;
    sum = crc(py::bytes(std::string(Bytes(file), Bytes())), sum);
  }
  return sum;
}

}  // namespace

void warn_if_stale() {
  Dl_info found;
  struct stat own, index;
  if (!dladdr(&sources, &found) || stat(found.dli_fname, &own)) return;
  const std::string module = found.dli_fname;
  const std::string root = module.substr(0, module.rfind('/') + 1) + "..";
  // git writes its index at each pull and checkout, so a newer build needs no search.
  std::string git = root + "/.git", line;
  std::ifstream link(git);  // of a work tree: a file with the path of the folder
  if (std::getline(link, line) && line.rfind("gitdir: ", 0) == 0) git = line.substr(8);
  if (stat((git + "/index").c_str(), &index)) return;
  const auto time = [](const struct stat& file) {
    return std::pair(file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  };
  if (time(index) <= time(own)) return;
  const py::object sum = checksum_of(root + "/src/python");
  if (sources.empty() || sum.equal(py::int_(PYGPU_SOURCES))) return;
  const std::string text = module +
                           " was built from other sources, so it may not fit the Python "
                           "files: build PyGPU again with 'pip install -e .'";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1)) throw py::error_already_set();
}

}  // namespace PyGPU::python
