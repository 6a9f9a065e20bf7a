# How every target of this repository is declared.
#
#   tracec_add_library(TracecEager
#     INCLUDE_AS Eager              # published as  #include "Eager/Tensor.h"
#     SRCS Tensor.cpp Dispatcher.cpp
#     DEPS tracec::Ops tracert::tracert)          # needed by users of its headers
#   tracec_add_unit_test(EagerTest SRCS EagerTest.cpp DEPS tracec::Eager)
#
# One target per folder, explicit source lists, no global flags. A target publishes one include
# root of its own, made of a link to its folder, so a header of another folder is found only by
# linking that folder's target. Options shared by all targets live in interface targets.

include_guard(GLOBAL)

# ---- options as targets ------------------------------------------------------------------------

add_library(tracec_options INTERFACE)
target_compile_features(tracec_options INTERFACE cxx_std_20)
target_compile_options(tracec_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(tracec_options INTERFACE -fcolor-diagnostics)
  # GCC builds use the system's default linker.
  target_link_options(tracec_options INTERFACE -fuse-ld=lld)
endif()
if(TRACEC_SANITIZE)
  target_compile_options(tracec_options INTERFACE
    -fsanitize=${TRACEC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tracec_options INTERFACE -fsanitize=${TRACEC_SANITIZE})
endif()

# ---- small helpers -----------------------------------------------------------------------------

# TracecEager -> tracec::Eager
function(_tracec_alias target)
  string(REGEX REPLACE "^Tracec" "" short ${target})
  add_library(tracec::${short} ALIAS ${target})
endfunction()

# Publishes the current folder as include prefix `prefix`, and a folder for generated files with
# the same prefix: ${PROJECT_BINARY_DIR}/generated/<target>/<prefix>.
function(_tracec_publish target scope prefix)
  set(root "${PROJECT_BINARY_DIR}/include/${target}")
  get_filename_component(parent "${root}/${prefix}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${prefix}" SYMBOLIC)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated/${target}/${prefix}")
  target_include_directories(${target} ${scope}
    "${root}" "${PROJECT_BINARY_DIR}/generated/${target}")
  set_target_properties(${target} PROPERTIES
    TRACEC_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated/${target}/${prefix}")
endfunction()

function(_tracec_configure target)
  cmake_parse_arguments(A "MLIR;EXCEPTIONS" "" "" ${ARGN})
  target_link_libraries(${target} PRIVATE tracec_options)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(A_MLIR)
    tracec_use_mlir(${target})
    return()
  endif()
  # Anything else may compute values: the number contract's flags.
  target_link_libraries(${target} PRIVATE tracert_number_flags)
  if(NOT A_EXCEPTIONS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
endfunction()

# ---- targets -----------------------------------------------------------------------------------

# tracec_add_library(target
#   [SHARED]            a shared library, built into lib/; static otherwise
#   [OUTPUT_NAME name]  file name without lib and ending; for SHARED
#   [MLIR]              compiled and linked against MLIR with the shared precompiled header
#   [EXCEPTIONS]        allow C++ exceptions
#   INCLUDE_AS prefix   include prefix of this folder's headers, e.g. Eager or trace/IR
#   [PUBLIC_INCLUDE d]  an include root other than this folder, e.g. the repository's include/
#   SRCS a.cpp ...      explicit list; no SRCS makes a header-only target
#   [DEPS t ...]        public: their headers are used in this target's headers
#   [PRIVATE_DEPS t ...])
function(tracec_add_library target)
  cmake_parse_arguments(A "SHARED;MLIR;EXCEPTIONS" "INCLUDE_AS;PUBLIC_INCLUDE;OUTPUT_NAME"
    "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tracec_add_library(${target}): unknown ${A_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT A_SRCS)
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  else()
    set(scope PUBLIC)
    if(A_SHARED)
      add_library(${target} SHARED ${A_SRCS})
      # Found beside the other shared libraries, in the build folder and installed.
      set_target_properties(${target} PROPERTIES OUTPUT_NAME ${A_OUTPUT_NAME}
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
        INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON BUILD_RPATH_USE_ORIGIN ON)
      if(NOT TRACEC_SANITIZE)
        # A missing definition is found here, not when a user first compiles.
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
      endif()
    else()
      add_library(${target} STATIC ${A_SRCS})
    endif()
    set(flags "")
    foreach(flag MLIR EXCEPTIONS)
      if(A_${flag})
        list(APPEND flags ${flag})
      endif()
    endforeach()
    _tracec_configure(${target} ${flags})
    target_link_libraries(${target} PRIVATE ${A_PRIVATE_DEPS})
  endif()
  target_link_libraries(${target} ${scope} ${A_DEPS})
  if(A_INCLUDE_AS)
    _tracec_publish(${target} ${scope} ${A_INCLUDE_AS})
  endif()
  if(A_PUBLIC_INCLUDE)
    get_filename_component(root "${A_PUBLIC_INCLUDE}" ABSOLUTE)
    target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${root}>)
  endif()
  _tracec_alias(${target})
endfunction()

# tracec_add_executable(tracec-opt [MLIR] [EXCEPTIONS] SRCS ... DEPS ...), built into bin/.
function(tracec_add_executable target)
  cmake_parse_arguments(A "MLIR;EXCEPTIONS" "" "SRCS;DEPS" ${ARGN})
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tracec_add_executable(${target}): unknown ${A_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${target} ${A_SRCS})
  set(flags "")
  foreach(flag MLIR EXCEPTIONS)
    if(A_${flag})
      list(APPEND flags ${flag})
    endif()
  endforeach()
  _tracec_configure(${target} ${flags})
  target_link_libraries(${target} PRIVATE ${A_DEPS})
  if(A_MLIR)
    # The precompiled header is -fPIC, which -fPIE objects may not use.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN/../lib")
endfunction()

# tracec_add_unit_test(EagerTest [MLIR] [COMPILER] [LABELS numbers] SRCS ... DEPS ...)
# A GoogleTest program; each TEST is one ctest case. COMPILER: it needs the compiler's libraries.
function(tracec_add_unit_test target)
  cmake_parse_arguments(A "MLIR;COMPILER" "TIMEOUT" "SRCS;DEPS;LABELS;ARGS" ${ARGN})
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tracec_add_unit_test(${target}): unknown ${A_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TRACEC_BUILD_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  if(NOT A_LABELS)
    set(A_LABELS unit)
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 300)
  endif()
  set(flags EXCEPTIONS)
  foreach(flag MLIR)
    if(A_${flag})
      list(APPEND flags ${flag})
    endif()
  endforeach()
  tracec_add_executable(${target} ${flags} SRCS ${A_SRCS} DEPS ${A_DEPS} GTest::gtest_main)
  if("unit" IN_LIST A_LABELS AND NOT A_COMPILER)
    add_dependencies(runtime-tests ${target})
  endif()
  include(GoogleTest)
  # Discovery at test time: the build does not run test programs.
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST EXTRA_ARGS ${A_ARGS}
    TEST_PREFIX "${target}." PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT})
endfunction()

# tracec_embed_file(target symbol file): the bytes of `file` as  extern "C" const char symbol[],
# symbol_end[]  in read-only data of `target`. For bitcode the code generator links.
function(tracec_embed_file target symbol file)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/embed_${symbol}.c")
  file(CONFIGURE OUTPUT "${out}" CONTENT [[
__asm__(
    ".section .rodata.@symbol@,\"a\",@progbits\n"
    ".balign 16\n"
    ".globl @symbol@\n.hidden @symbol@\n@symbol@:\n"
    ".incbin \"@file@\"\n"
    ".globl @symbol@_end\n.hidden @symbol@_end\n@symbol@_end:\n.byte 0\n"
    ".text\n");
]] @ONLY)
  set_source_files_properties("${out}" PROPERTIES OBJECT_DEPENDS "${file}"
    SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE "${out}")
endfunction()
