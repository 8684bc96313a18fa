// Lookup of loaded libraries with the dynamic linker. See loaded.h.
#include "loaded.h"

#include <link.h>

namespace PyGPU::host {
namespace {

struct CodeSearch {
  std::uintptr_t inside;
  LoadedLibrary found;
};

int look_for_code(dl_phdr_info* info, std::size_t, void* data) {
  CodeSearch& search = *static_cast<CodeSearch*>(data);
  LoadedLibrary library;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t first = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_TLS) library.thread_local_bytes = header.p_memsz;
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
    if (search.inside - first >= header.p_memsz) continue;
    library.code = first;
    library.code_bytes = header.p_memsz;
  }
  if (!library.code_bytes) return 0;
  search.found = library;
  return 1;
}

}  // namespace

LoadedLibrary library_of(std::uintptr_t inside) {
  CodeSearch search{inside, {}};
  dl_iterate_phdr(look_for_code, &search);
  return search.found;
}

}  // namespace PyGPU::host
