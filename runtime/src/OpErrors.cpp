#include "OpErrors.h"

namespace tracert {

std::string opPlace(const Program &program, OpIndex op) {
  const OpDef &def = program.ops[op];
  std::string text = "op #" + std::to_string(op) + " '" + std::string(def.call.info().name) + "'";
  if (def.loc < program.locs.size()) {
    const SourceLoc &loc = program.locs[def.loc];
    text += " at " + loc.file + ":" + std::to_string(loc.line);
  }
  return text;
}

Status atOp(const Program &program, OpIndex op, const Status &status) {
  if (op >= program.ops.size()) {
    return status;
  }
  return Status(status.code(), status.message() + " (" + opPlace(program, op) + ")");
}

} // namespace tracert
