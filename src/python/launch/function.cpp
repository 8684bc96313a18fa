// A kernel as a Python callable: f(*args, block=, grid=, stream=, shared=). Launches are the
// hottest path, so the type is defined by hand for CPython's fast call, without pybind11.
#include "python/launch/function.h"

#include <chrono>
#include <map>
#include <optional>

#include "PyGPU/runtime/graph.h"
#include "python/binders.h"
#include "python/binding/errors.h"
#include "python/binding/repr.h"
#include "python/launch/function_docs.h"
#include "python/launch/launch.h"
#include "python/launch/placement.h"
#include "python/launch/shape.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {
struct Function {
  Kernel kernel;
  std::vector<KernelParameter> parameters;
  std::shared_ptr<const Prepared> prepared;
  bool knows_count = true;          // the number of parameters is known
  std::map<int, Kernel> elsewhere;  // the same kernel on other devices
};

namespace {

Function& function_of(PyObject* self) { return held<Function>(self); }

// Interned names of keywords. The names in a call are usually the same objects.
struct CallNames {
  PyObject *block, *grid, *stream, *shared, *texrefs, *time_kernel, *shared_size;
};
CallNames call_names;

const Kernel& kernel_on(Function& f, int device) {
  const Module& own = f.kernel.module();
  const bool may_run = own.may_run_on(device);
  if (may_run && device == own.device()) return f.kernel;
  const std::shared_ptr<const Module> module = may_run ? own.on(device) : nullptr;
  if (!module)
    raise_argument_error(
        f.kernel.name() + "(): its memory is on device " + std::to_string(device) +
        ", but the variables of its module are in use on another; it was loaded on "
        "device " +
        std::to_string(own.device()));
  const auto found = f.elsewhere.find(device);
  if (found != f.elsewhere.end() && &found->second.module() == module.get()) return found->second;
  return f.elsewhere.insert_or_assign(device, f.kernel.of(module)).first->second;
}

// Add the memory in the arguments to the launch's order, and return the kernel for its device.
const Kernel& prepare_memory(Function& f, const Arguments& arguments, const StreamRef& stream,
                             StreamOrder& order) {
  Placement placement(f.kernel);
  for (std::size_t i = 0; i < arguments.count(); ++i) {
    PyObject* const argument = arguments.object(i);
    if (!argument) continue;
    std::shared_ptr<Storage> storage = storage_in(argument);
    const void* const address = arguments.address(i);
    if (!storage && address) storage = Storage::holding(address);
    order.uses(storage);
    const GPUArray* const array = gpuarray_in(argument);
    if (array)
      keep_for_graph(*array);
    else if (find<TextureObject>(argument) || find<SurfaceObject>(argument) ||
             (storage && !find<DeviceAllocation>(argument)))
      keep_for_graph(py::reinterpret_borrow<py::object>(argument));
    if (is_only_device() || (array && !array->core.address())) continue;
    if (storage)
      placement.add(i, storage->device(), storage->address());
    else if (array && array->core.address())
      placement.add(i, array->core.device(), array->core.address());
    else if (const auto* const texture = find<TextureObject>(argument))
      placement.add(i, (*texture)->device(), nullptr);
    else if (const auto* const surface = find<SurfaceObject>(argument))
      placement.add(i, (*surface)->device(), nullptr);
  }
  return kernel_on(f, placement.device(stream));
}

void launch(Function& f, const LaunchShape& shape, Arguments& arguments, const StreamRef& stream) {
  arguments.require_count(arguments.count());
  arguments.pack_addresses_again();
  f.kernel.module().require_alive();
  if (!enter_runtime()) throw DeviceError("cudaLaunchKernel", refused_status());
  StreamOrder order(stream);
  const bool plain = !stream.handle && is_only_device();
  const Kernel& kernel = plain ? f.kernel : prepare_memory(f, arguments, stream, order);
  cudaError_t error = cudaSuccess;
  order.run([&] {
    error = without_gil_if_waiting(kernel.module().device(), !stream.handle, [&] {
      return kernel.launch(shape, arguments.pointers(), stream.handle);
    });
  });
  if (error) check("cudaLaunchKernel", {error, kernel.launch_failure_text(shape)});
}

// Keyword arguments of a general call.
struct Options {
  LaunchShape shape;
  PyObject* stream = Py_None;
  bool has_block = false, time_kernel = false;

  void set(PyObject* name, PyObject* value) {
    if (name == call_names.block) {
      shape.block = shape_of("block", value);
      has_block = true;
    } else if (name == call_names.grid) {
      shape.grid = shape_of("grid", value);
    } else if (name == call_names.stream) {
      stream = value;
    } else if (name == call_names.shared) {
      shape.shared_bytes = shared_bytes_of(value);
    } else if (name == call_names.time_kernel) {
      time_kernel = is_true(value);
    } else if (name == call_names.texrefs) {
      const Py_ssize_t count = PyObject_Size(value);
      if (count < 0) throw py::error_already_set();
      if (count > 0) refuse_references();
    } else {
      set_by_text(name, value);
    }
  }

 private:
  void set_by_text(PyObject* name, PyObject* value) {  // not interned, or unknown
    for (PyObject* known : {call_names.block, call_names.grid, call_names.stream, call_names.shared,
                            call_names.time_kernel, call_names.texrefs})
      if (name != known && PyUnicode_Compare(name, known) == 0) return set(known, value);
    throw py::value_error("extra keyword argument '" + text_of(name) +
                          "': expected block, grid, stream, shared, texrefs or time_kernel");
  }

  [[noreturn]] static void refuse_references() {
    raise_argument_error("texrefs: the kernel's module declares no texture reference");
  }
};

PyObject* call_general(Function& f, PyObject* const* arguments, std::size_t count,
                       PyObject* keywords) {
  Options options;
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    options.set(PyTuple_GET_ITEM(keywords, i), arguments[count + std::size_t(i)]);
  if (!options.has_block)
    throw py::value_error("block: a kernel call needs the block size, block=(x, y, z)");
  std::vector<KernelParameter> any;  // for a kernel with unknown parameters
  if (!f.knows_count) {
    any.resize(count);
    assign_offsets(any);
  }
  Arguments packed(f.kernel.name(), f.knows_count ? f.parameters : any);
  packed.require_count(count);
  const StreamRef stream = stream_of(options.stream);
  std::vector<py::object> handlers;
  for (std::size_t i = 0; i < count; ++i) {
    if (packed.add(arguments[i]) != Packing::needs_handler) continue;
    handlers.push_back(py::reinterpret_borrow<py::object>(arguments[i]));
    handlers.back().attr("pre_call")(py::handle(options.stream));
    packed.pack_handler();
  }

  if (options.time_kernel && options.stream != Py_None) {
    PyErr_SetString(PyExc_AssertionError, "time_kernel=True: expected no stream");
    throw py::error_already_set();
  }
  if (options.time_kernel) wait_for({});
  const auto start = std::chrono::steady_clock::now();
  launch(f, options.shape, packed, stream);
  std::optional<double> seconds;
  if (options.time_kernel) {
    wait_for({});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (!handlers.empty() && options.stream == Py_None) wait_for({});
  for (const py::object& handler : handlers) handler.attr("post_call")(py::handle(options.stream));
  if (seconds) return PyFloat_FromDouble(*seconds);
  Py_RETURN_NONE;
}

PyObject* vectorcall(PyObject* self, PyObject* const* arguments, std::size_t flagged,
                     PyObject* keywords) {
  return guarded([&] {
    return call_general(function_of(self), arguments, std::size_t(PyVectorcall_NARGS(flagged)),
                        keywords);
  });
}

}  // namespace

void launch_prepared(py::handle function, const LaunchShape& shape, const StreamRef& stream,
                     const std::function<void(Arguments&)>& add_all) {
  Function& f = held<Function>(function);
  const auto prepared = f.prepared;  // Python code that an argument runs may call prepare() again
  Arguments arguments(f.kernel.name(), f.knows_count ? f.parameters : prepared->parameters,
                      prepared);
  add_all(arguments);
  launch(f, shape, arguments, stream);
}

namespace {

// prepared_call(grid, block, *args, shared_size=0), or the asynchronous form with a stream as third
// argument.
PyObject* call_prepared(PyObject* self, PyObject* const* arguments, std::size_t count,
                        PyObject* keywords, bool has_stream, const char* name) {
  if (!function_of(self).prepared) {
    PyErr_Format(PyExc_AttributeError, "%s: call prepare() first", name);
    throw py::error_already_set();
  }
  const std::size_t leading = has_stream ? 3 : 2;
  if (count < leading)
    throw py::type_error(std::string(name) + "(grid, block, " + (has_stream ? "stream, " : "") +
                         "*args): expected at least " + std::to_string(leading) +
                         " arguments, got " + std::to_string(count));
  LaunchShape shape;
  shape.grid = shape_of("grid", arguments[0]);
  shape.block = shape_of("block", arguments[1]);
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const keyword = PyTuple_GET_ITEM(keywords, i);
    if (keyword != call_names.shared_size &&
        PyUnicode_Compare(keyword, call_names.shared_size) != 0)
      throw py::type_error(std::string(name) + "() got an unexpected keyword argument '" +
                           text_of(keyword) + "'");
    shape.shared_bytes = shared_bytes_of(arguments[count + std::size_t(i)]);
  }
  const StreamRef stream = has_stream ? stream_of(arguments[2]) : default_stream();
  const auto add_all = [&](Arguments& packed) {
    packed.require_count(count - leading);
    for (std::size_t i = leading; i < count; ++i) packed.add(arguments[i]);
  };
  launch_prepared(self, shape, stream, std::ref(add_all));  // a copy would need the heap
  Py_RETURN_NONE;
}

PyObject* prepared_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* keywords) {
  return guarded([&] {
    return call_prepared(self, arguments, std::size_t(count), keywords, false, "prepared_call");
  });
}

PyObject* prepared_async_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                              PyObject* keywords) {
  return guarded([&] {
    return call_prepared(self, arguments, std::size_t(count), keywords, true,
                         "prepared_async_call");
  });
}

void prepare(Function& f, const py::sequence& given) {
  auto prepared = std::make_shared<Prepared>();
  auto& [declared, parameters] = *prepared;
  for (Py_ssize_t i = 0; i < Py_ssize_t(given.size()); ++i) {
    const py::object item = given[std::size_t(i)];
    const auto pair = item.cast<std::pair<std::string, std::size_t>>();
    declared.push_back({Kind(pair.first.at(0)), pair.second});
  }
  if (f.knows_count) {
    if (declared.size() != f.parameters.size())
      raise_argument_error("prepare: " + f.kernel.name() + "() takes " +
                           counted_arguments(f.parameters.size()) + ", not " +
                           std::to_string(declared.size()));
    for (std::size_t i = 0; i < declared.size(); ++i)
      check_declaration(declared[i], f.parameters[i], i);
  } else {
    parameters.resize(declared.size());
    for (std::size_t i = 0; i < declared.size(); ++i) parameters[i].nbytes = declared[i].nbytes;
    assign_offsets(parameters);
  }
  f.prepared = std::move(prepared);
}

// `signature` is None or [(name, kind, nbytes or 0), ...]; see _compile/source/signature.py.
Function make_function(py::handle self, const std::shared_ptr<Module>& module,
                       const std::string& name, const py::object& signature) {
  Function function{Kernel(module, name), {}, nullptr, true, {}};
  const bool known = function.kernel.has_parameter_info();
  for (const ParameterOffset& parameter : function.kernel.parameters())
    function.parameters.emplace_back().nbytes = parameter.nbytes;
  function.knows_count = known;
  if (!signature.is_none()) {
    const auto declared = signature.cast<py::list>();
    if (!known) function.parameters.resize(declared.size());
    function.knows_count = true;
    for (std::size_t i = 0;
         i < function.parameters.size() && declared.size() == function.parameters.size(); ++i) {
      KernelParameter& parameter = function.parameters[i];
      std::string text;
      std::size_t nbytes = 0;
      std::tie(parameter.name, text, nbytes) =
          declared[i].cast<std::tuple<std::string, std::string, std::size_t>>();
      if (!known) parameter.nbytes = nbytes;
      if (fits(Kind(text.at(0)), parameter.nbytes)) parameter.kind = Kind(text[0]);
      if (parameter.kind != Kind::pointer || text.size() < 3) continue;
      parameter.pointee = Kind(text[1]);
      std::size_t end = 0;
      parameter.pointee_nbytes = std::stoul(text.substr(2), &end);
      end += 2;
      if (end < text.size() && text[end] == 'x')
        parameter.pointee_count = std::stoul(text.substr(end + 1));
      parameter.is_writable = text.back() == 'w';
    }
  }
  assign_offsets(function.parameters);
  instance_at<Function>(self.ptr())->call = &vectorcall;
  return function;
}

// Return the offset of each parameter: as the runtime reports it or, for numbers and pointers
// alone, computed from their sizes.
py::object parameter_offsets(const Function& f) {
  if (!f.knows_count) return py::none();
  py::list found;
  std::size_t end = 0;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const KernelParameter& parameter = f.parameters[i];
    std::size_t offset = 0;
    if (f.kernel.has_parameter_info()) {
      offset = f.kernel.parameters()[i].offset;
    } else {
      const bool is_one = is_integral(parameter.kind) || is_floating_point(parameter.kind) ||
                          parameter.kind == Kind::boolean;
      if (!parameter.nbytes || !(is_one || parameter.kind == Kind::pointer)) return py::none();
      const std::size_t alignment = parameter.nbytes;
      offset = (end + alignment - 1) / alignment * alignment;
    }
    end = offset + parameter.nbytes;
    found.append(py::make_tuple(offset, parameter.nbytes, std::string(1, char(parameter.kind)),
                                parameter.name));
  }
  return found;
}

std::string function_text(const Function& f) {
  std::string text = f.kernel.name() + "(";
  for (const KernelParameter& parameter : f.parameters) {
    if (text.back() != '(') text += ", ";
    text += parameter_text(parameter);
  }
  const Module& module = f.kernel.module();
  text += (f.knows_count ? ") on device " : "...) on device ") + std::to_string(module.device());
  if (forked()) return text + " of the parent process";
  return module.alive() ? text : text + ", unloaded by cudaDeviceReset";
}

}  // namespace

py::handle function_class() { return reinterpret_cast<PyObject*>(type_of<Function>); }

void bind_function(module_& m) {
  const auto intern = [](const char* text) { return PyUnicode_InternFromString(text); };
  call_names = {intern("block"),   intern("grid"),        intern("stream"),     intern("shared"),
                intern("texrefs"), intern("time_kernel"), intern("shared_size")};
  static PyMethodDef methods[] = {{"prepared_call", as_method(&prepared_call),
                                   METH_FASTCALL | METH_KEYWORDS, docs::prepared_call},
                                  {"prepared_async_call", as_method(&prepared_async_call),
                                   METH_FASTCALL | METH_KEYWORDS, docs::prepared_async_call},
                                  {nullptr, nullptr, 0, nullptr}};
  const py::object c = new_class<Function>(
      m, "_Function", "A kernel of a loaded module: a callable that launches it.",
      {{Py_tp_call, as_slot(&PyVectorcall_Call)}, {Py_tp_methods, methods}});
  constructor(c, &make_function, {{"module"}, {"name"}, {"signature"}});
  property(
      c, "name", [](const Function& f) { return f.kernel.name(); }, "Name of the kernel.");
  property(c, "_parameter_offsets", &parameter_offsets,
           "(offset, bytes, kind, name) of each parameter; None if unknown.");
  method(c, "__repr__",
         [](const py::object& self) { return described<Function>(self, &function_text); });
  method(c, "_prepare", &prepare, "Declare the kinds and sizes of the arguments.", {{"declared"}});
  method(c, "_get_attribute",
         [](const Function& f, int number) { return f.kernel.attribute(number); },
         "Return an attribute by the driver's number.", {{"number"}});
  method(c, "_set_attribute",
         [](Function& f, const py::tuple& pair) {
           const int number = pair[0].cast<int>(), value = pair[1].cast<int>();
           f.kernel.set_attribute(number, value);
           for (auto& [device, kernel] : f.elsewhere)
             if (kernel.module().alive()) kernel.set_attribute(number, value);
         },
         "Set an attribute: a pair of the driver's number and a value.", {{"pair"}});
}

}  // namespace PyGPU::python
