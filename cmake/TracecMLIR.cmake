# MLIR: found once, one precompiled header for all MLIR targets, op definitions by mlir-tblgen.
#
#   tracec_tablegen(TracecTrace TraceOps.td                # in the folder of TracecTrace
#     TraceOps.h.inc   -gen-op-decls
#     TraceOps.cpp.inc -gen-op-defs)
#   tracec_tablegen_shards(TracecTrace TraceOps.td TraceOps 4)
#
# Only the shared MLIR and LLVM libraries are linked: a static archive beside them would register
# every TypeID and option twice.

include_guard(GLOBAL)

# The package's version file refuses a bare 22.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
set(TRACEC_LLVM_BIN "${LLVM_TOOLS_BINARY_DIR}")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 22)
  message(FATAL_ERROR "MLIR targets need clang 22 (have ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}); use a preset, or configure with TRACEC_RUNTIME_ONLY=ON")
endif()

add_library(tracec_mlir INTERFACE)
separate_arguments(_llvm_definitions UNIX_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tracec_mlir INTERFACE ${_llvm_definitions}
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(tracec_mlir INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
target_include_directories(tracec_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_link_libraries(tracec_mlir INTERFACE MLIR LLVM)

# Compiled once, reused by every MLIR target. Content-addressed, so that ccache may share it.
add_library(tracec_mlir_pch OBJECT "${PROJECT_SOURCE_DIR}/cmake/MlirPch.cpp")
target_link_libraries(tracec_mlir_pch PRIVATE tracec_options tracec_mlir)
set_target_properties(tracec_mlir_pch PROPERTIES
  CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_compile_options(tracec_mlir_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
target_precompile_headers(tracec_mlir_pch PRIVATE "${PROJECT_SOURCE_DIR}/cmake/MlirPch.h")

function(tracec_use_mlir target)
  # PUBLIC: headers of MLIR targets include MLIR's.
  target_link_libraries(${target} PUBLIC tracec_mlir)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>)
  target_precompile_headers(${target} REUSE_FROM tracec_mlir_pch)
endfunction()

# Include roots for a .td file: MLIR's, and those of the target and of what it links.
function(_tracec_tablegen_command target td out)
  set(roots "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>")
  get_filename_component(td_path "${td}" ABSOLUTE)
  add_custom_command(OUTPUT "${out}"
    COMMAND "${TRACEC_LLVM_BIN}/mlir-tblgen" ${ARGN} "${td_path}" -I "${MLIR_INCLUDE_DIRS}"
      "$<$<BOOL:${roots}>:-I$<JOIN:${roots},;-I>>" -o "${out}" -d "${out}.d"
    DEPENDS "${td_path}" DEPFILE "${out}.d" COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Generating ${out}")
endfunction()

# tracec_tablegen(target file.td OUT -gen-x [args] OUT2 -gen-y ...): each OUT lands beside the
# target's headers, so  #include "trace/IR/TraceOps.h.inc"  finds it. Call after the library.
function(tracec_tablegen target td)
  get_target_property(dir ${target} TRACEC_GENERATED_DIR)
  set(outs "")
  set(name "")
  foreach(arg ${ARGN})
    if(arg MATCHES "^-")
      list(APPEND args ${arg})
    else()
      if(name)
        _tracec_tablegen_command(${target} ${td} "${dir}/${name}" ${args})
        list(APPEND outs "${dir}/${name}")
      endif()
      set(name ${arg})
      set(args "")
    endif()
  endforeach()
  _tracec_tablegen_command(${target} ${td} "${dir}/${name}" ${args})
  list(APPEND outs "${dir}/${name}")
  _tracec_generated(${target} ${outs})
endfunction()

# Users of the target's headers wait for the generated files too: tracec_tablegen_all builds
# them all, and the precompiled header (which every MLIR object waits for) depends on it.
function(_tracec_generated target)
  string(MD5 hash "${ARGN}")
  string(SUBSTRING ${hash} 0 8 hash)
  add_custom_target(${target}-tablegen-${hash} DEPENDS ${ARGN})
  add_dependencies(${target} ${target}-tablegen-${hash})
  add_dependencies(tracec_tablegen_all ${target}-tablegen-${hash})
endfunction()
add_custom_target(tracec_tablegen_all)
add_dependencies(tracec_mlir_pch tracec_tablegen_all)

# tracec_tablegen_shards(target file.td Base n): op declarations and definitions in n shards that
# compile in parallel: Base.h.inc, Base.cpp.inc, and n generated sources which include
# `Base`Shard.h.inc after  #define GET_OP_DEFS_<i>. HEADER is what each shard includes first.
function(tracec_tablegen_shards target td base count)
  cmake_parse_arguments(A "" "HEADER" "" ${ARGN})
  get_target_property(dir ${target} TRACEC_GENERATED_DIR)
  tracec_tablegen(${target} ${td}
    ${base}.h.inc -gen-op-decls -op-shard-count=${count}
    ${base}.cpp.inc -gen-op-defs -op-shard-count=${count})
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    set(shard "${CMAKE_CURRENT_BINARY_DIR}/${base}Shard${index}.cpp")
    file(CONFIGURE OUTPUT "${shard}" CONTENT
"#include \"${A_HEADER}\"
#define GET_OP_DEFS_${index}
#include \"${dir}/${base}.cpp.inc\"
")
    target_sources(${target} PRIVATE "${shard}")
  endforeach()
endfunction()
