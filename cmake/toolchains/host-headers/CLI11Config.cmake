# CLI11 has headers only; those of this machine serve a cross build, too.
if(NOT TARGET CLI11::CLI11)
  add_library(CLI11::CLI11 INTERFACE IMPORTED GLOBAL)
  target_include_directories(CLI11::CLI11 INTERFACE "${CMAKE_BINARY_DIR}/host-headers")
endif()
