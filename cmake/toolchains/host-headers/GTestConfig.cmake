# Debian's libgtest-dev has GoogleTest's source, which a cross build compiles for its own machine.
if(NOT TARGET gtest_main)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(/usr/src/googletest "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
endif()
