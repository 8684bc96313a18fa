// HIPRTC's stand-in: its calls, and the way to compile.py, which does the work in the Python that
// this library was loaded into.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "machine.h"

struct _hiprtcProgram {
  std::string source, name, log, code;
  std::vector<std::string> expressions;
  std::map<std::string, std::string> lowered;
};

namespace {

// Files by which the text goes to Python, and the image comes back.
class Folder {
 public:
  Folder() {
    char path[] = "/tmp/standin-XXXXXX";
    if (mkdtemp(path)) path_ = path;
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    for (const std::string& name : names_) unlink((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  bool exists() const { return !path_.empty(); }
  void write(const std::string& name, const std::string& text) {
    names_.push_back(name);
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) {
    names_.push_back(name);
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
  std::vector<std::string> names_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

template <class Function>
Function in_python(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Runs compile.py; false outside Python, or where it fails.
bool run(const std::string& folder) {
  const auto ensure = in_python<int (*)()>("PyGILState_Ensure");
  const auto release = in_python<void (*)(int)>("PyGILState_Release");
  const auto execute = in_python<int (*)(const char*, void*)>("PyRun_SimpleStringFlags");
  if (!ensure || !release || !execute) return false;
  const int state = ensure();
  const std::string text = std::string("import runpy as _runpy\n_runpy.run_path('") +
                           STANDIN_FOLDER + "/compile.py')['main']('" + folder + "')\n";
  const int failed = execute(text.c_str(), nullptr);
  release(state);
  return failed == 0;
}

// Lists of texts: "const char**", and from HIP 7 on "const char* const*".
template <class Program, class Texts>
Texts texts_of(hiprtcResult (*)(Program, int, Texts));
using Texts = decltype(texts_of(hiprtcCompileProgram));

hiprtcResult give(const std::string& from, char* to) {
  if (!to) return HIPRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, from.data(), from.size());
  return HIPRTC_SUCCESS;
}

}  // namespace

extern "C" {
STANDIN_EXPORT const char* hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
    case HIPRTC_SUCCESS: return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_INVALID_INPUT: return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM: return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_COMPILATION: return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    default: return "HIPRTC_ERROR_INTERNAL_ERROR";
  }
}
STANDIN_EXPORT hiprtcResult hiprtcVersion(int* major, int* minor) {
  *major = 9;  // as every HIPRTC of ROCm 5 to 7 says
  *minor = 0;
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* source,
                                                const char* name, int, Texts, Texts) {
  if (!program || !source) return HIPRTC_ERROR_INVALID_INPUT;
  *program = new _hiprtcProgram{source, name ? name : "default_program", {}, {}, {}, {}};
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  if (!program || !*program) return HIPRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* text) {
  program->expressions.push_back(text);
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, Texts options) {
  Folder folder;
  if (!folder.exists()) return HIPRTC_ERROR_INTERNAL_ERROR;
  folder.write("source", program->source);
  folder.write("name", program->name);
  folder.write("options", joined({options, options + count}));
  folder.write("expressions", joined(program->expressions));
  const bool ran = run(folder.path());
  program->log = folder.read("log");
  program->code = folder.read("image");
  std::istringstream names(folder.read("names"));
  if (!ran) return HIPRTC_ERROR_INTERNAL_ERROR;
  for (const std::string& expression : program->expressions)
    std::getline(names, program->lowered[expression], '\0');
  return program->code.empty() ? HIPRTC_ERROR_COMPILATION : HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* text,
                                                 const char** name) {
  const auto found = program->lowered.find(text);
  if (found == program->lowered.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t* size) {
  *size = program->log.size() + 1;
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  log[program->log.size()] = '\0';
  return give(program->log, log);
}
STANDIN_EXPORT hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t* size) {
  *size = program->code.size();
  return HIPRTC_SUCCESS;
}
STANDIN_EXPORT hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  return give(program->code, code);
}
}
