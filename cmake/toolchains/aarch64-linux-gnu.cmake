# Cross builds for 64-bit ARM with Debian's g++-12-aarch64-linux-gnu; what is built runs under qemu-user.
#
#   cmake --preset aarch64 && cmake --build build/aarch64 --target runtime-tests

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# Libraries of this machine are of no use there.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)

# Header-only libraries are this machine's, by links: /usr/include itself would hide the headers of
# the other C library.
set(host_headers "${CMAKE_BINARY_DIR}/host-headers")
file(MAKE_DIRECTORY "${host_headers}")
foreach(header flatbuffers xxhash.h CLI)
  file(CREATE_LINK "/usr/include/${header}" "${host_headers}/${header}" SYMBOLIC)
endforeach()
set(TRACERT_FLATBUFFERS_INCLUDE "${host_headers}" CACHE PATH "")
set(TRACERT_XXHASH_INCLUDE "${host_headers}" CACHE PATH "")
set(CLI11_DIR "${CMAKE_CURRENT_LIST_DIR}/host-headers" CACHE PATH "")
set(GTest_DIR "${CMAKE_CURRENT_LIST_DIR}/host-headers" CACHE PATH "")
