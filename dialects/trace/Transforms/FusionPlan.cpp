#include "trace/Transforms/FusionPlan.h"

#include <queue>
#include <utility>

using namespace mlir;

namespace tracec::trace {

namespace {

// Beyond this, registers spill and code grows without gain.
constexpr unsigned kLargestGroup = 256;
// Compacted values of a masked kernel share the scratch block buffers.
constexpr unsigned kMostMaskedSinks = 8;

bool isRepeatedElement(Value value) {
  return llvm::all_of(cast<RankedTensorType>(value.getType()).getShape(),
                      [](int64_t size) { return size == 1; });
}

} // namespace

FusionPlan::FusionPlan(func::FuncOp function, bool groupEachOp)
    : sizes(function), block(function.getBody().front()), groupEachOp(groupEachOp) {
  auto newMemory = [&](Value value) {
    memoryOf[value] = memoryReaders.size();
    memoryReaders.emplace_back();
  };
  for (BlockArgument argument : block.getArguments()) {
    newMemory(argument);
  }
  SmallVector<Operation *> guards;
  for (Operation &op : block.without_terminator()) {
    std::optional<Attribute> inPlace = op.getInherentAttr("in_place");
    bool shares = hasTrait(&op, tracert::kTraitView) || (inPlace && *inPlace);
    for (Value result : op.getResults()) {
      if (shares) {
        memoryOf[result] = memoryOf[op.getOperand(0)];
      } else {
        newMemory(result);
      }
    }
    // What only looks at sizes must not keep apart the ops that it stands between.
    if (hasTrait(&op, tracert::kTraitSizeOnly) && op.use_empty()) {
      guards.push_back(&op);
    } else if (!isa<ConstantOp>(op)) {
      visit(&op);
    }
  }
  for (Operation *guard : guards) {
    visit(guard);
  }
}

unsigned FusionPlan::root(unsigned group) {
  while (groups[group].parent != group) {
    groups[group].parent = groups[groups[group].parent].parent;
    group = groups[group].parent;
  }
  return group;
}

unsigned FusionPlan::newGroup() {
  Group group;
  group.parent = groups.size();
  groups.push_back(std::move(group));
  return groups.size() - 1;
}

bool FusionPlan::canMerge(unsigned a, unsigned b) {
  const Group &first = groups[a], &second = groups[b];
  bool sameAxes = first.reducedAxes.empty() || second.reducedAxes.empty() ||
                  first.reducedAxes == second.reducedAxes;
  bool sameMask = !first.mask || !second.mask || first.mask == second.mask;
  bool mixesMaskAndAxes =
      (first.mask && !second.reducedAxes.empty()) || (second.mask && !first.reducedAxes.empty());
  return first.isGroup && second.isGroup && first.domain == second.domain && sameAxes && sameMask &&
         !mixesMaskAndAxes && first.opCount + second.opCount < kLargestGroup &&
         first.sinkCount + second.sinkCount <= kMostMaskedSinks;
}

void FusionPlan::merge(unsigned into, unsigned from) {
  if (into == from) {
    return;
  }
  Group &kept = groups[into], &gone = groups[from];
  gone.parent = into;
  kept.mask = kept.mask ? kept.mask : gone.mask;
  if (kept.reducedAxes.empty()) {
    kept.reducedAxes = gone.reducedAxes;
  }
  kept.level = std::max(kept.level, gone.level);
  kept.lowestReader = std::min(kept.lowestReader, gone.lowestReader);
  kept.opCount += gone.opCount;
  kept.sinkCount += gone.sinkCount;
  kept.readersBefore.append(gone.readersBefore);
}

SmallVector<unsigned> FusionPlan::candidates(Operation *op, GroupRole role,
                                             ArrayRef<DimExpr> domain, Kind &resultKind) {
  SmallVector<unsigned> found;
  auto add = [&](unsigned group) {
    group = root(group);
    if (groups[group].isGroup && !llvm::is_contained(found, group)) {
      found.push_back(group);
    }
  };
  // Compacted values only meet each other and repeated elements.
  std::optional<unsigned> compactedIn;
  for (Value operand : op->getOperands()) {
    auto place = places.find(operand);
    if (place != places.end() && place->second.kind == Kind::Compacted) {
      compactedIn = root(place->second.group);
    }
  }
  if (compactedIn && (role == GroupRole::Map || role == GroupRole::Reduce)) {
    bool fits = true;
    for (Value operand : op->getOperands()) {
      auto place = places.find(operand);
      bool isInside = place != places.end() && place->second.kind == Kind::Compacted &&
                      root(place->second.group) == *compactedIn;
      fits &= isInside || (isRepeatedElement(operand) &&
                           (place == places.end() || root(place->second.group) != *compactedIn));
    }
    if (fits) {
      resultKind = role == GroupRole::Map ? Kind::Compacted : Kind::Reduced;
      found.push_back(*compactedIn);
      return found;
    }
  }
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto place = places.find(operand);
    bool isOutsideOnly = role == GroupRole::Gather && index == 0;
    if (place != places.end() && place->second.kind == Kind::Full && !isOutsideOnly &&
        sizes.domainOf(operand) == domain) {
      add(place->second.group);
    }
  }
  if (role == GroupRole::MaskRead) {
    if (auto shared = groupOfMask.find(maskOf(op)); shared != groupOfMask.end()) {
      add(shared->second);
    }
  }
  llvm::stable_sort(found,
                    [&](unsigned a, unsigned b) { return groups[a].level > groups[b].level; });
  return found;
}

void FusionPlan::noteReads(Operation *op, unsigned group) {
  for (Value operand : op->getOperands()) {
    auto place = places.find(operand);
    if (place != places.end() && root(place->second.group) != group) {
      Group &producer = groups[root(place->second.group)];
      producer.lowestReader = std::min(producer.lowestReader, groups[group].level);
    }
    if (auto memory = memoryOf.find(operand); memory != memoryOf.end()) {
      SmallVector<unsigned> &readers = memoryReaders[memory->second];
      if (readers.empty() || readers.back() != group) {
        readers.push_back(group);
      }
    }
  }
}

void FusionPlan::placeSingle(Operation *op) {
  unsigned node = newGroup();
  Group &group = groups[node];
  group.opCount = 1;
  for (Value operand : op->getOperands()) {
    if (auto place = places.find(operand); place != places.end()) {
      group.level = std::max(group.level, groups[root(place->second.group)].level + 1);
    }
  }
  std::optional<Attribute> inPlace = op->getInherentAttr("in_place");
  if (inPlace && *inPlace) {
    SmallVector<unsigned> &readers = memoryReaders[memoryOf[op->getOperand(0)]];
    for (unsigned reader : readers) {
      group.level = std::max(group.level, groups[root(reader)].level + 1);
    }
    for (unsigned reader : readers) {
      Group &before = groups[root(reader)];
      before.lowestReader = std::min(before.lowestReader, group.level);
    }
    group.readersBefore = std::exchange(readers, {});
  }
  noteReads(op, node);
  groupOfOp[op] = node;
  for (Value result : op->getResults()) {
    places[result] = {node, Kind::Other};
  }
}

/// What the op would be in a group; the value that its group's domain has the shape of.
static std::pair<GroupRole, Value> placeInGroup(Operation *op) {
  GroupRole role = groupRoleOf(op);
  switch (role) {
  case GroupRole::None:
    return {role, {}};
  case GroupRole::MaskRead:
    return {role, maskOf(op)};
  case GroupRole::Reduce:
    return {role, op->getOperand(0)};
  case GroupRole::Map:
  case GroupRole::Gather:
    break;
  }
  // A number costs less than a launch, and integers are often sizes, computed ahead.
  bool isNumber = cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0;
  return {isNumber ? GroupRole::None : role, op->getResult(0)};
}

void FusionPlan::visit(Operation *op) {
  auto [role, shapedLikeDomain] = placeInGroup(op);
  // What nothing reads is there for its check, which a kernel without a result may not make.
  if (role == GroupRole::None || op->use_empty()) {
    placeSingle(op);
    return;
  }
  Joining joining{op, role, sizes.domainOf(shapedLikeDomain)};
  joining.kind = role == GroupRole::MaskRead ? Kind::Compacted
                 : role == GroupRole::Reduce ? Kind::Reduced
                                             : Kind::Full;
  SmallVector<unsigned> found;
  if (!groupEachOp) {
    found = candidates(op, role, joining.domain, joining.kind);
  }
  startGroup(joining, found);
  joinFitting(joining, found);
  leaveStuck(joining);
  if (readsUnfinished(joining)) {
    joining.joined.clear();
    groups[joining.node].level = levelOf(joining);
  }
  // Without its group a compacted value is an ordinary one.
  if (joining.joinsCompacted && joining.joined.empty()) {
    joining.joinsCompacted = false;
    joining.kind = role == GroupRole::Reduce ? Kind::Reduced : Kind::Full;
    setDomain(joining);
    groups[joining.node].sinkCount = 0;
  }
  place(joining);
}

/// The op alone, as a group to merge with.
void FusionPlan::startGroup(Joining &joining, ArrayRef<unsigned> found) {
  joining.node = newGroup();
  Group &group = groups[joining.node];
  group.isGroup = true;
  group.opCount = 1;
  joining.joinsCompacted =
      !found.empty() && groups[found[0]].mask && groups[found[0]].domain != joining.domain;
  bool isMaskRead = joining.role == GroupRole::MaskRead;
  if (isMaskRead || (joining.joinsCompacted && joining.role == GroupRole::Reduce)) {
    group.sinkCount = 1;
  }
  if (joining.joinsCompacted) {
    group.domain = groups[found[0]].domain;
    return;
  }
  setDomain(joining);
  if (isMaskRead) {
    group.mask = maskOf(joining.op);
  }
}

void FusionPlan::setDomain(const Joining &joining) {
  Group &group = groups[joining.node];
  group.domain = joining.domain;
  if (joining.role == GroupRole::Reduce) {
    ArrayRef<int64_t> axes = reducedAxesOf(joining.op);
    group.reducedAxes.assign(axes.begin(), axes.end());
  }
}

/// Candidates that fit are joined; everything else is read from below.
void FusionPlan::joinFitting(Joining &joining, ArrayRef<unsigned> found) {
  for (unsigned candidate : found) {
    bool fits =
        canMerge(candidate, joining.node) &&
        llvm::all_of(joining.joined, [&](unsigned other) { return canMerge(candidate, other); });
    if (fits) {
      joining.joined.push_back(candidate);
    }
  }
}

unsigned FusionPlan::levelOf(const Joining &joining) {
  unsigned level = 0;
  for (Value operand : joining.op->getOperands()) {
    if (auto place = places.find(operand); place != places.end()) {
      unsigned producer = root(place->second.group);
      bool isInside = llvm::is_contained(joining.joined, producer);
      level = std::max(level, groups[producer].level + !isInside);
    }
  }
  for (unsigned candidate : joining.joined) {
    level = std::max(level, groups[candidate].level);
  }
  return level;
}

/// A group that something below the common level reads cannot be lifted to it.
void FusionPlan::leaveStuck(Joining &joining) {
  while (true) {
    unsigned level = levelOf(joining);
    groups[joining.node].level = level;
    auto *stuck = llvm::find_if(joining.joined, [&](unsigned candidate) {
      return groups[candidate].level != level && groups[candidate].lowestReader <= level;
    });
    if (stuck == joining.joined.end()) {
      return;
    }
    joining.joined.erase(stuck);
  }
}

/// Reading a value of a joined group that is not per element (a reduction, say) needs it finished.
bool FusionPlan::readsUnfinished(const Joining &joining) {
  return llvm::any_of(joining.op->getOperands(), [&](Value operand) {
    auto place = places.find(operand);
    if (place == places.end() || !llvm::is_contained(joining.joined, root(place->second.group))) {
      return false;
    }
    if (joining.joinsCompacted) {
      return place->second.kind != Kind::Compacted;
    }
    return place->second.kind != Kind::Full ||
           sizes.domainOf(operand) != groups[joining.node].domain;
  });
}

void FusionPlan::place(const Joining &joining) {
  unsigned node = joining.node;
  unsigned level = groups[node].level;
  for (unsigned candidate : joining.joined) {
    merge(node, candidate);
  }
  groups[node].level = level;
  groupOfOp[joining.op] = node;
  noteReads(joining.op, node);
  places[joining.op->getResult(0)] = {node, joining.kind};
  if (joining.role == GroupRole::MaskRead) {
    groupOfMask[maskOf(joining.op)] = node;
  }
}

std::vector<FusionPlan::Node> FusionPlan::takeNodes() {
  // Numbered by first op, so that ties keep program order.
  std::vector<Node> nodes;
  DenseMap<unsigned, unsigned> nodeOfGroup;
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op)) {
      continue;
    }
    unsigned group = root(groupOfOp[&op]);
    auto [entry, isNew] = nodeOfGroup.try_emplace(group, nodes.size());
    if (isNew) {
      nodes.push_back({{}, groups[group].isGroup});
    }
    nodes[entry->second].ops.push_back(&op);
  }
  return inOrder(std::move(nodes), nodeOfGroup);
}

std::vector<FusionPlan::Node> FusionPlan::inOrder(std::vector<Node> nodes,
                                                  const DenseMap<unsigned, unsigned> &nodeOfGroup) {
  std::vector<SmallVector<unsigned, 4>> users(nodes.size());
  std::vector<unsigned> waits(nodes.size(), 0);
  auto addEdge = [&](unsigned fromGroup, unsigned to) {
    unsigned from = nodeOfGroup.lookup(root(fromGroup));
    if (from != to) {
      users[from].push_back(to);
      ++waits[to];
    }
  };
  for (auto [index, node] : llvm::enumerate(nodes)) {
    for (Operation *op : node.ops) {
      for (Value operand : op->getOperands()) {
        if (auto place = places.find(operand); place != places.end()) {
          addEdge(place->second.group, index);
        }
      }
      for (unsigned reader : groups[groupOfOp[op]].readersBefore) {
        addEdge(reader, index);
      }
    }
  }
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned index = 0; index < nodes.size(); ++index) {
    if (waits[index] == 0) {
      ready.push(index);
    }
  }
  std::vector<Node> ordered;
  while (!ready.empty()) {
    unsigned index = ready.top();
    ready.pop();
    for (unsigned user : users[index]) {
      if (--waits[user] == 0) {
        ready.push(user);
      }
    }
    ordered.push_back(std::move(nodes[index]));
  }
  assert(ordered.size() == nodes.size() && "the cut has a cycle");
  return ordered;
}

} // namespace tracec::trace
