#include "ProgramKit.h"

namespace tracert::test {

HostTensor rawTensor(DType dtype, Dims shape, const void *data) {
  HostTensor tensor;
  tensor.type = {dtype, std::move(shape)};
  tensor.bytes.resize(static_cast<size_t>(tensor.type.byteCount()));
  if (!tensor.bytes.empty()) {
    std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
  }
  return tensor;
}

HostTensor boolTensor(Dims shape, const std::vector<uint8_t> &values) {
  return rawTensor(DType::Bool, std::move(shape), values.data());
}

HostTensor iota(DType dtype, Dims shape, int64_t start) {
  HostTensor tensor;
  tensor.type = {dtype, std::move(shape)};
  tensor.bytes.resize(static_cast<size_t>(tensor.type.byteCount()));
  size_t size = dtypeSize(dtype);
  for (int64_t i = 0; i < tensor.type.elementCount(); ++i) {
    unsigned char *at = tensor.bytes.data() + static_cast<size_t>(i) * size;
    int64_t value = start + i;
    auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
    visitDType(dtype, [&](auto tag) {
      using D = decltype(tag);
      using Storage = typename D::Storage;
      if constexpr (isBoolTag<D>) {
        put(static_cast<Storage>(value % 3 == 0));
      } else if constexpr (isNarrowFloatTag<D>) {
        // From 1 on, in steps of the last place.
        uint64_t one =
            infinityBits(dtype) / 2 & ~((uint64_t(1) << dtypeRecord(dtype).fractionBits) - 1);
        put(static_cast<Storage>(one + static_cast<uint64_t>(value % 512)));
      } else {
        put(static_cast<Storage>(value));
      }
    });
  }
  return tensor;
}

std::shared_ptr<const IndexItems> index(std::vector<IndexItem> list, bool advancedFirst) {
  auto made = std::make_shared<IndexItems>();
  made->items = std::move(list);
  made->advancedFirst = advancedFirst;
  return made;
}

AttrList items(std::vector<IndexItem> list) { return {AttrValue::index(index(std::move(list)))}; }

uint32_t ProgramKit::symbol(const std::string &name) {
  for (uint32_t i = 0; i < program->symbols.size(); ++i) {
    if (program->symbols[i].name == name) {
      return i;
    }
  }
  SymbolDef def;
  def.name = name;
  program->symbols.push_back(def);
  return static_cast<uint32_t>(program->symbols.size() - 1);
}

ValueId ProgramKit::input(const std::string &name, DType dtype, Dims dims,
                          const std::vector<std::string> &symbols) {
  auto value = static_cast<ValueId>(program->values.size());
  InputDef def;
  def.name = name;
  def.value = value;
  size_t next = 0;
  for (int64_t dim : dims) {
    def.dimSymbols.push_back(dim == kUnknownDim && next < symbols.size() ? symbol(symbols[next++])
                                                                         : kNoIndex);
  }
  program->values.push_back({dtype, std::move(dims)});
  program->inputs.push_back(std::move(def));
  return value;
}

ValueId ProgramKit::constant(const HostTensor &tensor) {
  size_t bytes = std::max<size_t>((tensor.bytes.size() + 63) / 64 * 64, 64);
  std::shared_ptr<void> memory(std::aligned_alloc(64, bytes), std::free);
  if (!tensor.bytes.empty()) {
    std::memcpy(memory.get(), tensor.bytes.data(), tensor.bytes.size());
  }
  auto value = static_cast<ValueId>(program->values.size());
  program->values.push_back({tensor.type.dtype, tensor.type.shape});
  program->constants.push_back({value, tensor.type, memory.get()});
  program->owners.push_back(std::move(memory));
  return value;
}

ValueId ProgramKit::op(OpKind kind, AttrList attrs, std::vector<ValueId> operands) {
  OpDef def;
  def.call = {kind, std::move(attrs)};
  std::vector<OperandInfo> infos;
  for (ValueId operand : operands) {
    infos.push_back({{program->values[operand].dtype, program->values[operand].dims}});
  }
  Result<ResultTypes> types = inferTypes(def.call, infos);
  EXPECT_TRUE(types.ok()) << types.status().message();
  if (!types.ok()) {
    return 0;
  }
  def.operands = std::move(operands);
  for (const TensorType &type : *types) {
    def.results.push_back(static_cast<ValueId>(program->values.size()));
    program->values.push_back({type.dtype, type.shape});
  }
  def.sourceOps = {static_cast<uint32_t>(program->ops.size())};
  def.loc = static_cast<uint32_t>(program->locs.size());
  program->locs.push_back({"model.py", static_cast<int32_t>(10 + program->ops.size())});
  program->ops.push_back(std::move(def));
  return program->ops.back().results[0];
}

ValueId ProgramKit::setInPlace(OpKind kind, AttrList attrs, std::vector<ValueId> operands) {
  ValueId result = op(kind, std::move(attrs), std::move(operands));
  program->ops.back().inPlace = true;
  return result;
}

void ProgramKit::output(const std::string &name, ValueId value) {
  program->outputs.push_back({name, value, kNoIndex});
}

std::shared_ptr<const Program> ProgramKit::finish() {
  Status status = verifyProgram(*program);
  EXPECT_TRUE(status.ok()) << status.message();
  return program;
}

HostTensor copyOf(const TensorView &view) {
  HostTensor copy;
  copy.type = view.type();
  copy.bytes.resize(static_cast<size_t>(copy.type.byteCount()));
  KernelContext context{nullptr, kPortable, &processAllocator(), IndexMode::Checked};
  copyView(context, view, copy.view());
  return copy;
}

Result<Tensors> tryRun(Executor &executor, const Tensors &inputs) {
  std::vector<TensorView> views;
  for (const HostTensor &input : inputs) {
    views.push_back(input.view());
  }
  std::vector<OwnedTensor> outputs;
  TRACERT_TRY(executor.run(views, outputs));
  Tensors results;
  for (const OwnedTensor &output : outputs) {
    EXPECT_TRUE(output.view.isContiguous());
    results.push_back(copyOf(output.view));
  }
  return results;
}

std::unique_ptr<Executor> executorOf(std::shared_ptr<const Program> program,
                                     ExecutorOptions options) {
  Result<std::unique_ptr<Executor>> executor = Executor::create(std::move(program), options);
  EXPECT_TRUE(executor.ok()) << executor.status().message();
  return executor.ok() ? std::move(executor).value() : nullptr;
}

Tensors run(const std::shared_ptr<const Program> &program, const Tensors &inputs,
            SectionChoice section) {
  std::unique_ptr<Executor> executor = executorOf(program, {.section = section});
  if (!executor) {
    return {};
  }
  Result<Tensors> outputs = tryRun(*executor, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? *outputs : Tensors();
}

namespace {

int64_t sizeOf(const HostTensor &tensor) {
  return tensor.type.dtype == DType::Int64 ? tensor.values<int64_t>()[0]
                                           : tensor.values<int32_t>()[0];
}

Result<ResultTypes> typesNow(const OpDef &op, std::span<const HostTensor *const> operands,
                             std::span<const TensorView> views, const KernelContext &context) {
  std::vector<OperandInfo> infos;
  for (const HostTensor *operand : operands) {
    OperandInfo info{operand->type};
    bool isSize = operand->type.rank() == 0 &&
                  (operand->type.dtype == DType::Int64 || operand->type.dtype == DType::Int32);
    if (isSize) {
      info.sizeValue = sizeOf(*operand);
    }
    infos.push_back(info);
  }
  if (!op.call.info().has(kTraitDataDependentShape)) {
    return inferTypes(op.call, infos);
  }
  TRACERT_ASSIGN(ResultTypes unknown, inferTypes(op.call, infos));
  TRACERT_ASSIGN(std::vector<int64_t> counts, readCounts(context, op.call, views));
  return inferTypesWithCounts(op.call, infos, counts);
}

} // namespace

Result<Tensors> reference(const Program &program, const Tensors &inputs) {
  KernelContext context{nullptr, kPortable, &processAllocator(), IndexMode::Checked};
  std::vector<HostTensor> values(program.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[program.inputs[i].value] = inputs[i];
  }
  for (const ConstantDef &constant : program.constants) {
    values[constant.value] = rawTensor(constant.type.dtype, constant.type.shape, constant.data);
  }
  for (const OpDef &op : program.ops) {
    std::vector<const HostTensor *> operands;
    std::vector<TensorView> views;
    for (ValueId operand : op.operands) {
      operands.push_back(&values[operand]);
      views.push_back(values[operand].view());
    }
    TRACERT_ASSIGN(ResultTypes types, typesNow(op, operands, views, context));
    std::vector<TensorView> results;
    for (size_t i = 0; i < types.size(); ++i) {
      HostTensor &result = values[op.results[i]];
      result.type = types[i];
      // Kernels may write a vector beyond the end.
      result.bytes.reserve(static_cast<size_t>(types[i].byteCount()) + kBufferSlack);
      result.bytes.resize(static_cast<size_t>(types[i].byteCount()));
      results.push_back(result.view());
    }
    if (op.call.info().has(kTraitSizeOnly)) {
      std::vector<OperandInfo> infos{{operands[0]->type}};
      TRACERT_ASSIGN(int64_t size, inferSizeValue(op.call, infos));
      std::memcpy(results[0].data, &size, sizeof size);
      continue;
    }
    TRACERT_TRY(runKernel(context, op.call, views, results));
  }
  Tensors outputs;
  for (const OutputDef &output : program.outputs) {
    outputs.push_back(values[output.value]);
  }
  return outputs;
}

std::shared_ptr<const Program> sampleProgram() {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim, 4}, {"n"});
  ValueId weights = kit.constant(iota(DType::Float32, {4}, 1));
  ValueId table = kit.constant(tensor<int64_t>({3}, {0, -1, 1}));
  ValueId scaled = kit.op(OpKind::mul, {}, {x, weights});
  ValueId picked =
      kit.op(OpKind::indexing_multi_axis_vec, items({arrayItem(), slice({}, {})}), {scaled, table});
  ValueId written = kit.setInPlace(OpKind::set_subtensor, items({slice(0, 1), slice(1, 3)}),
                                   {picked, kit.constant(tensor<float>({}, {7}))});
  ValueId mask = kit.op(OpKind::gt, {}, {scaled, kit.constant(tensor<float>({}, {2}))});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem(2)}), {scaled, mask});
  ValueId total =
      kit.op(OpKind::sum, {AttrValue::ints({0}), AttrValue::boolean(false)}, {selected});
  kit.output("written", written);
  kit.output("total", total);
  kit.output("selected", selected);
  Program &program = *kit.program;
  program.userInfo = "{\"name\": \"sample\"}";
  program.producer = "ProgramKit";
  program.ledger = {"model.py:3 scale = 2.0"};
  Tensors inputs = sampleInputs();
  Result<Tensors> outputs = reference(program, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  TestVector vector;
  vector.origin = "user";
  auto keep = [&](const HostTensor &from) {
    auto held = std::make_shared<HostTensor>(from);
    program.owners.push_back(held);
    return TestTensor{held->type, held->bytes.data()};
  };
  vector.inputs.push_back(keep(inputs[0]));
  for (const HostTensor &output : *outputs) {
    vector.outputs.push_back(keep(output));
  }
  program.testVectors.push_back(std::move(vector));
  return kit.finish();
}

Tensors sampleInputs() { return {iota(DType::Float32, {5, 4}, -3)}; }

} // namespace tracert::test
