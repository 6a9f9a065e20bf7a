// Compiled, never run: tracert.hpp stands alone.
#include "tracert/tracert.hpp"

trt::Expected<trt::Session> openSession(const trt::Model &model) {
  return trt::Session::create(model, TRT_SECTION_PORTABLE);
}
