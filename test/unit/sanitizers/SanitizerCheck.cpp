// Does what a sanitizer must find, by name: overflow, leak, shift, or none.
#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char **argv) {
  std::string_view fault = argc == 2 ? argv[1] : "";
  volatile int size = 4;
  if (fault == "overflow") {
    volatile char *bytes = static_cast<char *>(std::malloc(static_cast<size_t>(size)));
    bytes[size] = 1;
    std::free(const_cast<char *>(bytes));
  } else if (fault == "leak") {
    char *volatile lost = static_cast<char *>(std::malloc(static_cast<size_t>(size)));
    lost = nullptr;
    (void)lost;
  } else if (fault == "shift") {
    volatile int shifted = 1 << (size * 10);
    (void)shifted;
  } else if (fault != "none") {
    return 2;
  }
  std::puts("still running");
  return 0;
}
