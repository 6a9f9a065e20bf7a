#include "OpOrder.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace tracert {

std::vector<OpIndex> recordedOrder(const Program &program) {
  auto count = static_cast<OpIndex>(program.ops.size());
  std::vector<OpIndex> producerOf(program.values.size(), kNoIndex);
  for (OpIndex op = 0; op < count; ++op) {
    for (ValueId result : program.ops[op].results) {
      producerOf[result] = op;
    }
  }
  std::vector<std::vector<OpIndex>> users(count);
  std::vector<uint32_t> waits(count, 0);
  for (OpIndex op = 0; op < count; ++op) {
    for (ValueId operand : program.ops[op].operands) {
      if (producerOf[operand] != kNoIndex) {
        users[producerOf[operand]].push_back(op);
        ++waits[op];
      }
    }
  }
  using Key = std::tuple<uint32_t, bool, OpIndex>;
  auto keyOf = [&](OpIndex op) {
    const std::vector<uint32_t> &from = program.ops[op].sourceOps;
    bool isGuard = program.ops[op].call.info().family == OpFamily::Guard;
    return Key(from.empty() ? kNoIndex : *std::min_element(from.begin(), from.end()), !isGuard, op);
  };
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  for (OpIndex op = 0; op < count; ++op) {
    if (waits[op] == 0) {
      ready.push(keyOf(op));
    }
  }
  std::vector<OpIndex> order;
  while (!ready.empty()) {
    OpIndex op = std::get<2>(ready.top());
    ready.pop();
    order.push_back(op);
    for (OpIndex user : users[op]) {
      if (--waits[user] == 0) {
        ready.push(keyOf(user));
      }
    }
  }
  return order;
}

} // namespace tracert
