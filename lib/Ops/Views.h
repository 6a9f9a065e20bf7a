/// Writing through views: which op puts a changed part back into the whole, by view op.
///
///   TRACERT_ASSIGN(Handle whole, putBack(view, baseAndExtras, part, emitter));
#pragma once

#include "Ops/Decompose.h"

namespace tracec {

/// Whether what the op views can be replaced; false also for ops that are no views.
bool canPutBack(const tracert::OpCall &view);

/// Emits what gives the base with the part that `view` shows replaced by `part`. `operands`: those
/// of the view, the base first. InvalidArgument for a view that cannot be written through.
tracert::Result<OpEmitter::Handle> putBack(const tracert::OpCall &view,
                                           std::span<const OpEmitter::Handle> operands,
                                           OpEmitter::Handle part, OpEmitter &emitter);

/// Whether putBack may give a view of the part with its elements in another order.
bool putsBackReordered(const tracert::OpCall &view);

} // namespace tracec
