# The Python package as it is in the build folder and in a wheel.
#
#   tracec_add_python_package(SRCS src/Module.cpp ... DEPS tracec::Eager)
#
# Build folder: python/tracec/ holds links to the sources in python-bindings/tracec and the
# extension _core, so  PYTHONPATH=build/dev/python  is all it takes. Wheel: the same, with the
# shared libraries in tracec/lib.

include_guard(GLOBAL)

# The interpreter ./dev set up, else the system's: a python3 earlier on the PATH may lack headers.
if(NOT Python_EXECUTABLE AND NOT SKBUILD)
  foreach(candidate "${PROJECT_SOURCE_DIR}/.venv/bin/python" /usr/bin/python3)
    if(EXISTS "${candidate}")
      set(Python_EXECUTABLE "${candidate}" CACHE FILEPATH "interpreter the extension is for")
      break()
    endif()
  endforeach()
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# nanobind lies among the interpreter's packages and knows where.
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT nanobind_ROOT)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no package nanobind, which the extension is built with: "
    "run ./dev build, or install requirements.txt, or configure with TRACEC_BUILD_PYTHON=OFF")
endif()
find_package(nanobind 3.1 CONFIG REQUIRED)

function(tracec_add_python_package)
  cmake_parse_arguments(A "" "" "SRCS;DEPS" ${ARGN})
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tracec_add_python_package: unknown ${A_UNPARSED_ARGUMENTS}")
  endif()
  set(package "${PROJECT_BINARY_DIR}/python/tracec")
  file(MAKE_DIRECTORY "${package}")

  Python_add_library(_core MODULE WITH_SOABI ${A_SRCS})
  _tracec_configure(_core EXCEPTIONS)
  # Part of the extension, whose users need no other package then.
  nanobind_build_library(nanobind-static AS_SYSINCLUDE)
  target_link_libraries(_core PRIVATE ${A_DEPS} nanobind-static)
  # libpython is the interpreter's; only PyInit__core is exported.
  target_link_options(_core PRIVATE -Wl,--gc-sections)
  set_target_properties(_core PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${package}"
    BUILD_RPATH "$ORIGIN/lib" INSTALL_RPATH "$ORIGIN/lib" BUILD_WITH_INSTALL_RPATH ON)
  # In the wheel the shared libraries lie in tracec/lib; in the build folder that is a link.
  file(CREATE_LINK "${PROJECT_BINARY_DIR}/lib" "${package}/lib" SYMBOLIC)

  file(GLOB entries CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/tracec"
    "${CMAKE_CURRENT_SOURCE_DIR}/tracec/*")
  list(REMOVE_ITEM entries __pycache__)
  foreach(entry ${entries})
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/tracec/${entry}" "${package}/${entry}" SYMBOLIC)
  endforeach()

  set(libraries tracert tracert_kernels)
  if(TARGET TracecCompiler)
    list(APPEND libraries TracecCompiler)
  endif()
  add_custom_target(tracec-python ALL DEPENDS _core ${libraries})
  install(TARGETS _core LIBRARY DESTINATION tracec COMPONENT python)
  install(TARGETS ${libraries} LIBRARY DESTINATION tracec/lib COMPONENT python
    NAMELINK_SKIP)
  install(DIRECTORY tracec/ DESTINATION tracec COMPONENT python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "__pycache__" EXCLUDE)
endfunction()
