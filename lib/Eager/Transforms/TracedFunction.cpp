#include "Eager/DeviceValues.h"
#include "Eager/Transforms/OpenCall.h"
#include "Eager/Transforms/TraceDump.h"
#include "Eager/Transforms/TraceSession.h"
#include "tracec/InterpreterLock.h"

#include <algorithm>
#include <unordered_map>

namespace tracec {

namespace {

std::string typeKeyText(const TypeKey &key) {
  std::string text(dtypeName(key.dtype));
  text += " of rank " + std::to_string(key.rank);
  return text;
}

/// Per tensor, the first one with the same key.
template <class KeyOf>
std::vector<uint32_t> firstWith(const std::vector<Tensor> &tensors, KeyOf keyOf) {
  std::vector<uint32_t> result;
  std::unordered_map<const void *, uint32_t> seen;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    result.push_back(seen.try_emplace(keyOf(tensors[i]), i).first->second);
  }
  return result;
}

CallSignature signatureOf(const CallArguments &arguments) {
  CallSignature signature;
  signature.structure = arguments.structure;
  signature.transforms = traceKeyAbove(TransformSlot::Trace);
  auto cellOf = [](const Tensor &tensor) -> const void * { return tensor.cellRef().get(); };
  signature.cellOf = firstWith(arguments.tensors, cellOf);
  // A path belongs to one cell.
  signature.sameAs = firstWith(arguments.tensors, [&](const Tensor &tensor) {
    return tensor.isView() ? tensor.pathIdentity() : cellOf(tensor);
  });
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    signature.isView.push_back(arguments.tensors[i].isView());
    Result<Value> value = arguments.tensors[i].read();
    signature.types.push_back(value.ok() ? TypeKey::of(innermost(*value)->type()) : TypeKey{});
  }
  return signature;
}

/// Which cells an otherwise equal record captured must also look as they did.
bool capturesMatch(const TraceRecord &record) {
  for (const TraceSlot &slot : record.slots) {
    if (slot.kind == TraceSlot::Kind::Captured &&
        !(TypeKey::of(innermost(slot.cell->value)->type()) == TypeKey::of(record.vars[slot.var]))) {
      return false;
    }
  }
  return true;
}

/// Whether two records serve the same calls, whatever the captured cells hold now.
bool sameCalls(const TraceRecord &a, const TraceRecord &b) {
  auto captures = [](const TraceRecord &record) {
    std::vector<std::pair<const Cell *, TypeKey>> cells;
    for (const TraceSlot &slot : record.slots) {
      if (slot.kind == TraceSlot::Kind::Captured) {
        cells.emplace_back(slot.cell.get(), TypeKey::of(record.vars[slot.var]));
      }
    }
    return cells;
  };
  return a.signature == b.signature && captures(a) == captures(b);
}

bool sameDTypes(const std::vector<TypeKey> &a, const std::vector<TypeKey> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TypeKey &x, const TypeKey &y) { return x.dtype == y.dtype; });
}

class TracedFunctionImpl final : public TracedFunction,
                                 public std::enable_shared_from_this<TracedFunctionImpl> {
public:
  explicit TracedFunctionImpl(TraceOptions options) : options(std::move(options)) {}

  State state() const override {
    ScopedLock lock(mutex);
    if (records.empty()) {
      return State::Untraced;
    }
    bool anyReplayed = std::any_of(records.begin(), records.end(),
                                   [](const auto &record) { return record->isCompiled(); });
    return anyReplayed ? State::Compiled : State::Traced;
  }

  /// The record that serves a call with this signature; null: record a new one.
  Result<std::shared_ptr<CompiledRecord>> find(const CallSignature &now) {
    std::vector<std::shared_ptr<CompiledRecord>> known;
    {
      ScopedLock lock(mutex);
      auto *found = records.find([&](const std::shared_ptr<CompiledRecord> &candidate) {
        return candidate->record.signature == now && capturesMatch(candidate->record);
      });
      if (found) {
        return *found;
      }
      known.assign(records.begin(), records.end());
    }
    std::string miss;
    // The error of a mismatch asks for the current line, which may run the user's code.
    TRACERT_TRY(findMiss(known, now, miss));
    ScopedLock lock(mutex);
    lastMiss = std::move(miss);
    return std::shared_ptr<CompiledRecord>();
  }

  void add(TraceRecord record) {
    auto fresh = std::make_shared<CompiledRecord>(std::move(record), options);
    // What goes may run any code (a captured array's destructor), so not under the lock.
    std::optional<std::shared_ptr<CompiledRecord>> evicted;
    {
      ScopedLock lock(mutex);
      // Another thread may have recorded the same meanwhile; its record may be compiled already.
      bool isKnown = records.find([&](const std::shared_ptr<CompiledRecord> &candidate) {
        return sameCalls(candidate->record, fresh->record);
      });
      if (!isKnown) {
        evicted = records.add(std::move(fresh));
      }
    }
    if (evicted) {
      Stats gone = (*evicted)->stats();
      ScopedLock lock(mutex);
      goneStats += gone;
    }
  }

  int optLevel() const override { return options.optLevel; }

  Result<TraceGraph> graph() const override {
    TRACERT_ASSIGN(std::shared_ptr<CompiledRecord> record, latest());
    return record->record.wholeGraph(options.name);
  }

  std::string explain() const override;

  Status dump(const DumpOptions &dumpOptions) const override {
    TRACERT_ASSIGN(std::shared_ptr<CompiledRecord> record, recordForDump());
    return dumpRecord(record->record, options, dumpOptions);
  }

  bool sharesArguments() const override {
    Result<std::shared_ptr<CompiledRecord>> record = recordForDump();
    return record.ok() && (*record)->record.sharesArguments();
  }

  Result<std::vector<Tensor>> recordedArguments() const override {
    TRACERT_ASSIGN(std::shared_ptr<CompiledRecord> record, latest());
    return copyRecordedArguments(record->record);
  }

  Result<std::vector<Tensor>> writtenCaptures() const override {
    TRACERT_ASSIGN(std::shared_ptr<CompiledRecord> record, recordForDump());
    return capturesWrittenBy(record->record);
  }

  void setRecordForDump(TraceRecord record) {
    // As in add(): what was there before goes after the lock.
    auto made = std::make_shared<CompiledRecord>(std::move(record), options);
    std::shared_ptr<CompiledRecord> of;
    ScopedLock lock(mutex);
    of = records.latest();
    std::swap(separate, made);
    std::swap(separateOf, of);
  }

  Stats stats() const override {
    Stats total;
    std::vector<std::shared_ptr<CompiledRecord>> kept;
    {
      ScopedLock lock(mutex);
      kept.assign(records.begin(), records.end());
      total = goneStats;
    }
    // What has run counts for ever, what is kept only while it is.
    total.ops = total.segments = total.kernels = total.arenaBytes = 0;
    for (const auto &record : kept) {
      total += record->stats();
    }
    total.specialisations = kept.size();
    return total;
  }

private:
  /// The latest record, or the one that was made of the same call without sharing.
  Result<std::shared_ptr<CompiledRecord>> recordForDump() const {
    TRACERT_ASSIGN(std::shared_ptr<CompiledRecord> record, latest());
    ScopedLock lock(mutex);
    return separate && separateOf == record ? separate : record;
  }

  Result<std::shared_ptr<CompiledRecord>> latest() const {
    ScopedLock lock(mutex);
    if (records.empty()) {
      return Status::invalidArgument("'" + options.name +
                                     "' has not been traced yet; call it once first");
    }
    return records.latest();
  }

  /// Why none of the records serves the call: an error, or `miss` says why a new one is recorded.
  static Status findMiss(const std::vector<std::shared_ptr<CompiledRecord>> &known,
                         const CallSignature &now, std::string &miss) {
    const TraceRecord *sameTransforms = nullptr, *sameStructure = nullptr;
    for (const std::shared_ptr<CompiledRecord> &candidate : known) {
      const CallSignature &then = candidate->record.signature;
      if (then.transforms != now.transforms) {
        continue;
      }
      sameTransforms = &candidate->record;
      if (then.structure != now.structure) {
        continue;
      }
      sameStructure = &candidate->record;
      if (sameDTypes(then.types, now.types)) {
        miss = "a new specialisation was recorded: an argument's or capture's rank, the set of its "
               "axes of size 1, or which arguments share a tensor changed";
        return Status();
      }
    }
    if (!sameTransforms) {
      miss = known.empty() ? "" : "a new specialisation was recorded: other transforms are active";
      return Status();
    }
    return sameStructure ? dtypeMismatch(*sameStructure, now)
                         : structureMismatch(*sameTransforms, now);
  }

  static Status structureMismatch(const TraceRecord &record, const CallSignature &now) {
    return traceMismatch({"TC0211", "argument structure", 0, {}, currentLocation()},
                         "the arguments were (" + record.signature.structure + ") and are (" +
                             now.structure + ")",
                         "pass what changes as a tensor, or trace the variants separately");
  }

  static Status dtypeMismatch(const TraceRecord &record, const CallSignature &now) {
    for (size_t i = 0; i < now.types.size(); ++i) {
      const TypeKey &then = record.signature.types[i];
      if (then.dtype != now.types[i].dtype) {
        return traceMismatch({"TC0206", "dtype", 0, {}, currentLocation()},
                             "argument '" + record.argumentNames[i] + "' was " + typeKeyText(then) +
                                 " and is " + typeKeyText(now.types[i]),
                             "make the dtypes the same on every call, e.g. with .astype, or trace "
                             "the function once per dtype");
      }
    }
    return Status::internal("no argument differs in dtype");
  }

  const TraceOptions options;
  mutable std::mutex mutex;
  tracert::RecentList<std::shared_ptr<CompiledRecord>> records{tracert::kMaxSpecialisations};
  /// What setRecordForDump() was given, for the record that was the latest then.
  std::shared_ptr<CompiledRecord> separate;
  std::shared_ptr<CompiledRecord> separateOf;
  /// Of records that were dropped.
  Stats goneStats;
  std::string lastMiss;
};

std::string TracedFunctionImpl::explain() const {
  std::vector<std::shared_ptr<CompiledRecord>> known;
  std::string miss;
  {
    ScopedLock lock(mutex);
    known.assign(records.begin(), records.end());
    miss = lastMiss;
  }
  std::string text = "trace of '" + options.name + "': " + std::to_string(known.size()) +
                     (known.size() == 1 ? " specialisation\n" : " specialisations\n");
  for (size_t i = 0; i < known.size(); ++i) {
    const TraceRecord &record = known[i]->record;
    TracedFunction::Stats stats = known[i]->stats();
    text += "#" + std::to_string(i) + ": arguments (" + record.signature.structure + ")\n";
    for (const TraceSlot &slot : record.slots) {
      if (slot.kind == TraceSlot::Kind::Argument) {
        text += "  argument '" + record.argumentNames[slot.argument] + "' recorded as " +
                record.vars[slot.var].str() + "\n";
      } else if (slot.kind == TraceSlot::Kind::Captured) {
        text += "  captured tensor " + record.vars[slot.var].str() + "\n";
      }
    }
    for (const TraceWrite &write : record.writes) {
      text += "  writes slot " + std::to_string(write.slot) + " back on each call\n";
    }
    text += "  " + std::to_string(stats.ops) + " ops in " + std::to_string(stats.segments) +
            " segments, " + std::to_string(stats.kernels) + " compiled kernels, " +
            std::to_string(stats.replays) + " segment runs, arena " +
            std::to_string(stats.arenaBytes) + " bytes\n";
    for (size_t s = 0; s + 1 < record.segments.size(); ++s) {
      const TraceSegment &segment = record.segments[s];
      text += "  segment " + std::to_string(s) + " ends at " + segment.endLoc.file + ":" +
              std::to_string(segment.endLoc.line) +
              (segment.endsInExcluded ? " (excluded region)\n" : " (host read)\n");
    }
  }
  if (!miss.empty()) {
    text += "last miss: " + miss + "\n";
  }
  return text;
}

} // namespace

TracedFunction::Stats &TracedFunction::Stats::operator+=(const Stats &other) {
  ops += other.ops;
  segments += other.segments;
  kernels += other.kernels;
  specialisations += other.specialisations;
  arenaBytes += other.arenaBytes;
  replays += other.replays;
  launches += other.launches;
  launchesReplaced += other.launchesReplaced;
  libraryKernels += other.libraryKernels;
  for (size_t i = 0; i < runsOnTarget.size(); ++i) {
    runsOnTarget[i] += other.runsOnTarget[i];
  }
  return *this;
}

std::shared_ptr<TracedFunction> TracedFunction::create(TraceOptions options) {
  return std::make_shared<TracedFunctionImpl>(std::move(options));
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

struct CallScope::Impl {
  std::shared_ptr<TracedFunctionImpl> function;
  CallArguments arguments;
  std::unique_ptr<TraceRecorder> recorder;
  TraceReplayer *replayer = nullptr;
  std::optional<OpenCall> open;
  Purpose purpose = Purpose::Call;
  bool sharedArguments = false;

  TraceSession *session() const {
    return recorder ? static_cast<TraceSession *>(recorder.get()) : replayer;
  }
};

CallScope::CallScope(std::shared_ptr<TracedFunction> function) : impl(std::make_unique<Impl>()) {
  impl->function = std::static_pointer_cast<TracedFunctionImpl>(std::move(function));
}

CallScope::~CallScope() {
  impl->open.reset();
  if (impl->replayer) {
    (void)impl->replayer->abandon(TraceSession::FindError::No);
    impl->replayer->release();
  }
}

Status CallScope::abandon() {
  impl->open.reset();
  return impl->session() ? impl->session()->abandon(TraceSession::FindError::Yes) : Status();
}

/// Replays run on the host only; captured tensors of a device are refused by the executor.
static Status checkOnHost(const CallArguments &arguments) {
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const Value &value = arguments.tensors[i].cellRef()->value;
    if (const tracert::Device *device = placeOf(value)) {
      return Status::invalidArgument(
          "a traced function takes tensors of the host, got '" + arguments.names[i] + "' on " +
          std::string(device->space().name) + "; copy it with toHost() before the call");
    }
  }
  return Status();
}

Status CallScope::begin(const CallArguments &arguments, Purpose purpose) {
  // Inside another traced call, or in its excluded region, the body simply runs.
  if (creationSerial() != 0) {
    return Status();
  }
  if (tracert::hasDevices()) [[unlikely]] {
    TRACERT_TRY(checkOnHost(arguments));
  }
  impl->arguments = arguments;
  impl->purpose = purpose;
  CallSignature signature = signatureOf(impl->arguments);
  if (purpose == Purpose::RecordForDump) {
    impl->recorder = std::make_unique<TraceRecorder>(impl->arguments, std::move(signature),
                                                     /*commits=*/false);
    impl->open.emplace(*impl->session());
    return Status();
  }
  TRACERT_ASSIGN(std::shared_ptr<CompiledRecord> record, impl->function->find(signature));
  if (record) {
    impl->replayer = new TraceReplayer(impl->arguments, std::move(record));
  } else {
    impl->recorder = std::make_unique<TraceRecorder>(impl->arguments, std::move(signature));
  }
  impl->open.emplace(*impl->session());
  return Status();
}

Status CallScope::finish(std::span<const Tensor> results) {
  if (!impl->open) {
    return Status();
  }
  closeExcludedRegion();
  Status status = impl->session()->finish(results);
  impl->open.reset();
  if (status.ok() && impl->recorder) {
    TraceRecord record = impl->recorder->takeRecord();
    impl->sharedArguments = record.sharesArguments();
    if (impl->purpose == Purpose::RecordForDump) {
      impl->function->setRecordForDump(std::move(record));
    } else {
      impl->function->add(std::move(record));
    }
  }
  return status;
}

bool CallScope::recordedSharedArguments() const { return impl->sharedArguments; }

} // namespace tracec
