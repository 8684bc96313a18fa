// Warning at import if this module is older than its sources: then the Python files may not fit it.
#include <dlfcn.h>
#include <ftw.h>
#include <sys/stat.h>

#include <fstream>

#include "python/binders.h"

namespace PyGPU::python {
namespace {

timespec built;

// A folder is newer after a file in it was removed.
int is_newer(const char*, const struct stat* file, int, FTW*) {
  const auto& time = file->st_mtim;
  return std::pair(time.tv_sec, time.tv_nsec) > std::pair(built.tv_sec, built.tv_nsec);
}

}  // namespace

void warn_if_stale() {
  Dl_info found;
  struct stat file;
  if (!dladdr(&built, &found) || stat(found.dli_fname, &file)) return;
  built = file.st_mtim;
  const std::string module = found.dli_fname;
  const std::string root = module.substr(0, module.rfind('/') + 1) + "..";
  // git writes its index at each pull and checkout, so a newer build needs no search.
  std::string git = root + "/.git", line;
  std::ifstream link(git);  // of a work tree: a file with the path of the folder
  if (std::getline(link, line) && line.rfind("gitdir: ", 0) == 0) git = line.substr(8);
  if (stat((git + "/index").c_str(), &file) || !is_newer("", &file, 0, nullptr)) return;
  if (nftw((root + "/src/python").c_str(), is_newer, 16, FTW_PHYS) != 1) return;
  const std::string text = module +
                           " is older than its sources, so it may not fit the Python "
                           "files: build PyGPU again with 'pip install -e .'";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1)) throw py::error_already_set();
}

}  // namespace PyGPU::python
