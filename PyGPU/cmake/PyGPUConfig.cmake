# CMake's package PyGPU: the headers, the host machine's library, libraries of CUDA sources.
#
#   find_package(PyGPU REQUIRED)
#   pygpu_add_library(kernels STATIC kernels.cu TARGET host)
#
# PyGPU::headers    the headers, for <PyGPU/gpu.h>, <PyGPU/view.h>, <PyGPU/export.h>
# PyGPU::host       the library of the target host. What links to it finds the library in an
#                   installed PyGPU without a setting of its own.
# PyGPU_PYTHON      the Python that has PyGPU
# PYGPU_TARGET      default of TARGET: cuda, hip or host. Without it, the environment variable of
#                   that name counts, then the target that PyGPU uses on this computer.
cmake_minimum_required(VERSION 3.20)

get_filename_component(PyGPU_PACKAGE_DIR "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(PyGPU_INCLUDE_DIR "${PyGPU_PACKAGE_DIR}/include")
# Installed modules look for the library in PyGPU's folder: beside them, or beside their package.
set(_pygpu_rpath "$ORIGIN/../PyGPU:$ORIGIN/PyGPU:$ORIGIN/../../PyGPU")
if(NOT IS_DIRECTORY "${PyGPU_INCLUDE_DIR}")  # an editable installation
  get_filename_component(PyGPU_INCLUDE_DIR "${PyGPU_PACKAGE_DIR}/../include" ABSOLUTE)
  string(APPEND _pygpu_rpath ":${PyGPU_PACKAGE_DIR}")
endif()

if(NOT TARGET PyGPU::headers)
  add_library(PyGPU::headers INTERFACE IMPORTED)
  target_include_directories(PyGPU::headers INTERFACE "${PyGPU_INCLUDE_DIR}")
  target_compile_features(PyGPU::headers INTERFACE cxx_std_17)

  add_library(PyGPU::host SHARED IMPORTED)
  set_target_properties(PyGPU::host PROPERTIES
    IMPORTED_LOCATION "${PyGPU_PACKAGE_DIR}/libPyGPU_host.so"
    IMPORTED_SONAME libPyGPU_host.so)
  target_link_libraries(PyGPU::host INTERFACE PyGPU::headers)
  # Headers with the names of the vendors' toolkits.
  target_include_directories(PyGPU::host INTERFACE
    "${PyGPU_INCLUDE_DIR}/PyGPU/host/cuda" "${PyGPU_INCLUDE_DIR}/PyGPU/host/hip")
  target_compile_definitions(PyGPU::host INTERFACE PYGPU_TARGET_HOST)
  # In a file, because each build tool would escape the $ in another way.
  set(_pygpu_file "${CMAKE_BINARY_DIR}/CMakeFiles/PyGPU_rpath.txt")
  file(CONFIGURE OUTPUT "${_pygpu_file}" CONTENT "-Xlinker -rpath -Xlinker \"${_pygpu_rpath}\"\n"
    @ONLY)
  if(_pygpu_file MATCHES "[$]")  # CMake itself writes a wrong number of $ into a link's options
    message(WARNING "PyGPU: installed modules will not find libPyGPU_host.so, because there is a $ "
      "in the path ${CMAKE_BINARY_DIR}; build in another folder, or set INSTALL_RPATH")
  else()
    target_link_options(PyGPU::host INTERFACE "@${_pygpu_file}")
  endif()
endif()

# Set PyGPU_PYTHON, if it is not set.
function(_pygpu_find_python)
  if(PyGPU_PYTHON)
    return()
  endif()
  find_program(_pygpu_on_path NAMES python3 python)
  mark_as_advanced(_pygpu_on_path)
  foreach(python "${Python_EXECUTABLE}" "${Python3_EXECUTABLE}" "${PYTHON_EXECUTABLE}"
          "${_pygpu_on_path}")
    if(python)
      execute_process(COMMAND "${python}" -W ignore -m PyGPU --cmakedir
        OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(IS_DIRECTORY "${found}")
        set(PyGPU_PYTHON "${python}" CACHE FILEPATH "Python that has PyGPU")
        mark_as_advanced(PyGPU_PYTHON)
        return()
      endif()
    endif()
  endforeach()
  message(FATAL_ERROR "PyGPU: no Python found that imports PyGPU; pass -DPyGPU_PYTHON=<path> and "
    "-DPyGPU_DIR=$(<path> -m PyGPU --cmakedir)")
endfunction()

# Set `result` to the output of python -m PyGPU with these arguments.
function(_pygpu_asked result)
  _pygpu_find_python()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=PYGPU_HOST_STRICT
    "${PyGPU_PYTHON}" -W ignore -m PyGPU ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE error
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "PyGPU: ${PyGPU_PYTHON} -m PyGPU ${ARGN}: ${error}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Set `result` to the target that the arguments of pygpu_add_library ask for.
function(_pygpu_target result)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "TARGET" "")
  set(target "")
  list(APPEND target ${given_TARGET} ${PYGPU_TARGET} $ENV{PYGPU_TARGET})  # the first counts
  if(NOT target)
    _pygpu_asked(facts --json)
    string(JSON target GET "${facts}" target)
  endif()
  list(GET target 0 target)
  if(NOT target MATCHES "^(cuda|hip|host)$")
    message(FATAL_ERROR "PyGPU: TARGET ${target}: expected cuda, hip or host")
  endif()
  set(${result} "${target}" PARENT_SCOPE)
endfunction()

# Set `result` to a file in place of a source of device code. The file includes the source after what
# nvcc includes by itself. Its ending is that of the language, so the source may belong to libraries of
# several targets.
function(_pygpu_wrapped result name source ending)
  set(text "#define __CUDACC__ 1\n#include <PyGPU/gpu.h>\n#include <PyGPU/host/runtime_api.h>\n")
  if(ending STREQUAL ".hip")
    set(text "#include <PyGPU/vendor/hip_sources.h>\n")
  endif()
  get_target_property(folder ${name} SOURCE_DIR)
  get_target_property(build ${name} BINARY_DIR)
  get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
  if(NOT EXISTS "${path}")
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${build}")
  endif()
  get_filename_component(stem "${path}" NAME)
  string(MD5 number "${source}")
  string(SUBSTRING "${number}" 0 8 number)
  set(wrapper "${build}/${name}.pygpu/${number}/${stem}${ending}")
  string(APPEND text "#include \"${path}\"\n")
  file(CONFIGURE OUTPUT "${wrapper}" CONTENT "@text@" @ONLY)
  foreach(property HEADER_FILE_ONLY COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FLAGS
          INCLUDE_DIRECTORIES OBJECT_DEPENDS SKIP_PRECOMPILE_HEADERS)
    get_source_file_property(value "${path}" TARGET_DIRECTORY ${name} ${property})
    if(value)
      set_property(SOURCE "${wrapper}" TARGET_DIRECTORY ${name} PROPERTY ${property} "${value}")
    endif()
  endforeach()
  set_property(SOURCE "${wrapper}" TARGET_DIRECTORY ${name} APPEND
    PROPERTY OBJECT_DEPENDS "${path}")  # a command may generate the source
  set(${result} "${wrapper}" PARENT_SCOPE)
endfunction()

# Wrap the sources of a library, when all of them and their properties are known.
function(_pygpu_wrap name ending)
  get_target_property(given ${name} SOURCES)
  string(REPLACE .hip cu endings ${ending})
  string(REPLACE .cpp "cu|hip" endings ${endings})
  set(sources)
  foreach(part IN LISTS given)
    set(pieces "${part}")
    if(part MATCHES "\\$<|>$")  # a generator expression, or the begin or end of one
      string(REGEX REPLACE "[:,<>]" ";\\0;" pieces "${part}")
    endif()
    set(source)
    foreach(piece IN LISTS pieces)
      if(piece MATCHES "\\.(${endings})$")
        _pygpu_wrapped(piece ${name} "${piece}" ${ending})
      endif()
      string(APPEND source "${piece}")
    endforeach()
    list(APPEND sources "${source}")
  endforeach()
  set_property(TARGET ${name} PROPERTY SOURCES "${sources}")
endfunction()

# The name must not be that of the macro after a _: CMake gives that to a macro that it defines again.
function(_pygpu_library name target)
  cmake_parse_arguments(PARSE_ARGV 2 given "STATIC;SHARED;MODULE;OBJECT" "TARGET" "")
  list(FILTER ARGN INCLUDE REGEX "^(STATIC|SHARED|MODULE|OBJECT)$")
  list(APPEND ARGN SHARED)
  list(GET ARGN 0 kind)
  add_library(${name} ${kind} ${given_UNPARSED_ARGUMENTS})
  if(NOT target STREQUAL "cuda")
    string(REPLACE host cpp ending ${target})
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]]
      CALL _pygpu_wrap [[${name}]] .${ending})")
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  string(TOUPPER "PYGPU_TARGET_${target}" macro)
  target_compile_definitions(${name} PUBLIC ${macro})
  if(NOT target STREQUAL "host")
    target_link_libraries(${name} PUBLIC PyGPU::headers)
    if(target STREQUAL "hip")  # headers with the names of NVIDIA's toolkit
      target_include_directories(${name} SYSTEM PRIVATE "${PyGPU_INCLUDE_DIR}/PyGPU/rtc_hip")
    endif()
    return()
  endif()

  target_link_libraries(${name} PUBLIC PyGPU::host)
  _pygpu_asked(flags --cflags --target host)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  # CMake has its own of these; folders, macros and headers are in the targets and the wrappers.
  list(FILTER flags INCLUDE REGEX "^-(f|W|U)")
  list(REMOVE_ITEM flags -fPIC)
  target_compile_options(${name} PRIVATE ${flags})
  target_link_options(${name} PRIVATE LINKER:-Bsymbolic)
  set(launcher "${CMAKE_COMMAND}" -E env PYGPU_TARGET=host "${PyGPU_PYTHON}" -m PyGPU cxx
    ${CMAKE_CXX_COMPILER_LAUNCHER})
  set_target_properties(${name} PROPERTIES
    CXX_COMPILER_LAUNCHER "${launcher}")
endfunction()

# pygpu_add_library(name [SHARED|STATIC|MODULE|OBJECT] source... [TARGET cuda|hip|host])
#
# Add a library of CUDA sources for one target. It is an ordinary target of CMake: the languages
# CUDA and HIP compile it for GPUs; for host, C++ does, with the launches rewritten. Consumers get
# the headers and the macro PYGPU_TARGET_CUDA, _HIP or _HOST. A macro of CMake, because languages
# are enabled for the whole folder.
macro(pygpu_add_library name)
  _pygpu_target(_pygpu_target_here ${ARGN})
  if(_pygpu_target_here STREQUAL "cuda")
    enable_language(CUDA)
  elseif(_pygpu_target_here STREQUAL "hip")
    enable_language(HIP)
  endif()
  _pygpu_library(${name} ${_pygpu_target_here} ${ARGN})
endmacro()
