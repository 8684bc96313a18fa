// Docstrings in numpydoc's form. The source has a summary, prose, and a line for what the
// function's parameters and result do not say by themselves; the sections and types are made from
// them:
//
//   Copy bytes of one array.
//
//   nbytes: Number of bytes.                    a parameter whose type is that of its annotation
//   order: [{'C', 'F'}, optional] Its order.   a parameter with a type of its own
//   -> address: Address of the copy.            a member of a result that ends with a status
//   -> The copy.                                a whole result; "-> [type] text" gives its type
//   Raises ValueError: If ...
//   See cudaFree: Free the memory.
//
//   >>> PyGPU.f(1)                              examples; their imports are added
//
// Lines that continue an entry are indented by four spaces. Descriptions that many functions share
// are in a table below.
#include <cstring>
#include <map>
#include <sstream>

#include "python/binding/functions.h"

namespace PyGPU::python {
namespace {

// Descriptions of parameters and results that do not depend on the function, by name and
// annotation.
constexpr struct {
  const char *name, *annotation, *text;
} shared_descriptions[] = {
    {"address", "Address", "Address of the memory."},
    {"address", "int", "Address of the memory; 0 after an error."},
    {"allocator", "object",
     "[callable, optional] Function of a number of bytes that returns an address; None uses the "
     "memory pool."},
    {"count", "Int", "Number of bytes."},
    {"device", "Int", "Ordinal of the device."},
    {"dpitch", "Int", "Bytes from one row of the destination to the next."},
    {"dst", "Address", "Address of the destination."},
    {"dst", "Memory",
     "Address of the destination, or a contiguous writable buffer such as a NumPy array."},
    {"dst_device", "Int", "Ordinal of the destination's device."},
    {"error", "cudaError_t | int", "The error."},
    {"event", "cudaEvent_t", "The event."},
    {"height", "Int", "Number of rows."},
    {"kind", "Int",
     "One of the numbers ``cudaMemcpy...To...``; cudaMemcpyDefault, the default, infers the "
     "direction."},
    {"nbytes", "Int", "Number of bytes."},
    {"peer", "Int", "Ordinal of the device that owns the memory."},
    {"pitch", "Int", "Bytes from one row to the next."},
    {"spitch", "Int", "Bytes from one row of the source to the next."},
    {"src", "Address", "Address of the source."},
    {"src", "Memory", "Address of the source, or a contiguous buffer such as a NumPy array."},
    {"src_device", "Int", "Ordinal of the source's device."},
    {"status", "cudaError_t", "Outcome of the call."},
    {"stream", "StreamLike", "The stream; None is the null stream."},
    {"value", "Int", "Value of each byte."},
    {"width", "Int", "Bytes of each row."},
};
// Types as they are shown to readers, by annotation.
constexpr const char* shown_types[][2] = {
    {"Address", "int, pointer_wrapper or an object with ``.ptr``"},
    {"Callable[[], object]", "callable"},
    {"Int", "int"},
    {"Memory", "address or buffer"},
    {"StreamLike", "cudaStream_t, int or None"},
    {"cudaError_t | int", "cudaError_t or int"},
};

std::string section(const std::string& title, const std::string& body) {
  if (body.empty()) return "";
  return "\n" + title + "\n" + std::string(title.size(), '-') + "\n" + body;
}

// Split "name: text"; the text may be missing.
std::pair<std::string, std::string> split(const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string::npos) return {line, ""};
  return {line.substr(0, colon), line.substr(colon + 2)};
}

// Return "name : type" and the text below it, or "" without a text. The source has the text, and
// before it, in brackets, a type that is not the annotation's; shared texts are looked up.
std::string entry(const std::string& name, const std::string& annotation, const std::string& source,
                  const std::string& standard = "") {
  std::string type = annotation, text = source;
  for (const auto& [shared, of, description] : shared_descriptions)
    if (text.empty() && name == shared && annotation == of) text = description;
  if (text.empty()) return "";
  for (const auto& [from, to] : shown_types)
    if (annotation == from) type = to;
  type += standard;
  if (text[0] == '[') {
    const std::size_t end = text.find(']');
    type = text.substr(1, end - 1);
    text.erase(0, text.find_first_not_of(" \n", end + 1));
  }
  return name + (name.empty() ? "" : " : ") + type + "\n    " + text + "\n";
}

struct DocstringSource {
  std::string prose, examples;
  std::map<std::string, std::string> parameters;  // text by name
  std::vector<std::string> results, errors, references;

  explicit DocstringSource(const Callable& c) {
    std::istringstream lines(c.doc);
    std::string* last = &prose;
    for (std::string line; std::getline(lines, line);) {
      if (!examples.empty() || line.rfind(">>> ", 0) == 0)
        examples += line + "\n";
      else if (std::string* const begun = begin_entry(c, line))
        last = begun;
      else if (last == &prose)
        prose += line + "\n";
      else if (!line.empty())
        *last += "\n" + line;
    }
    prose.resize(prose.find_last_not_of('\n') + 1);
  }

 private:
  // If an entry begins with the line, return where its text is stored.
  std::string* begin_entry(const Callable& c, const std::string& line) {
    for (const auto& [list, mark] : {std::pair(&results, "-> "), std::pair(&errors, "Raises "),
                                     std::pair(&references, "See ")})
      if (line.rfind(mark, 0) == 0) return &list->emplace_back(line.substr(std::strlen(mark)));
    const auto [name, text] = split(line);
    for (const char* const parameter : c.parameters)
      if (name == parameter) return &(parameters[name] = text);
    return nullptr;
  }
};

std::string parameters_of(const Callable& c, DocstringSource& source) {
  std::string body;
  for (std::size_t i = c.is_method; i < c.parameters.size(); ++i) {
    const std::string name = c.parameters[i];
    const std::string standard = c.defaults[i] ? ", default " + repr_of(c.defaults[i]) : "";
    const std::string row = entry((int(i) == c.rest ? "*" : "") + name, c.annotations[i],
                                  source.parameters[name], standard);
    if (row.empty()) return "";
    body += row;
  }
  return body;
}

// Types of the members of "tuple[..., cudaError_t]"; none for other results.
std::vector<std::string> member_types(const std::string& result) {
  std::vector<std::string> types;
  if (result.rfind("tuple[", 0) != 0) return types;
  int depth = 0;
  bool begins = true;
  for (const char letter : result.substr(6, result.size() - 7)) {
    if (begins) types.emplace_back();
    depth += (letter == '[') - (letter == ']');
    begins = letter == ',' && !depth;
    if (!begins && (letter != ' ' || depth)) types.back() += letter;
  }
  return types;
}

std::string results_of(const Callable& c, const DocstringSource& source) {
  const std::vector<std::string> types = member_types(c.result);
  const auto given = [&](std::size_t i) {
    return i < source.results.size() ? source.results[i] : "";
  };
  std::string body;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto [name, text] = split(given(i));
    body += entry(name.empty() ? "status" : name, types[i], text);
  }
  if (!types.empty()) return body;
  const bool is_outcome = c.result == "cudaError_t" && given(0).empty();
  return entry("", c.result, is_outcome ? "Outcome of the call." : given(0));
}

}  // namespace

std::string docstring(const Callable& c) {
  if (c.doc.empty()) return "";
  DocstringSource source(c);
  std::string errors, references, imports;
  for (const std::string& line : source.errors) {
    const auto [name, text] = split(line);
    errors += entry("", name, text);
  }
  for (const std::string& line : source.references) {
    const auto [name, text] = split(line);
    references += name + " : " + text + "\n";
  }
  const auto shows = [&](const char* text) {
    return source.examples.find(text) != std::string::npos;
  };
  if (shows("np.")) imports = ">>> import numpy as np\n";
  if (shows("PyGPU.") && !shows("import PyGPU")) imports += ">>> import PyGPU\n";
  return source.prose + "\n" + section("Parameters", parameters_of(c, source)) +
         section("Returns", results_of(c, source)) + section("Raises", errors) +
         section("See Also", references) + section("Examples", imports + source.examples);
}

}  // namespace PyGPU::python
