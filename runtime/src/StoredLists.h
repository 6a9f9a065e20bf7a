/// StoredLists: reads lists of a FlatBuffer, counting what is read against what the file holds and
/// against the load's memory before anything is allocated.
///
///   class TableReader : private StoredLists { ... TRACERT_TRY(each(root.ops(), ops, readOp)); }
///
/// Shared tables could make a small file ask for much memory; nothing we write shares any.
#pragma once

#include "LoadBudget.h"
#include "tracert/Tensor.h"

#include "flatbuffers/flatbuffers.h"

#include <cstring>
#include <string>
#include <vector>

namespace tracert {

class StoredLists {
protected:
  /// `content`: bytes that all lists together may take in the file.
  StoredLists(uint64_t content, LoadBudget &memory) : memory(memory), content(content) {}

  /// More tables came.
  void allow(uint64_t bytes) { content += bytes; }

  template <class Root>
  Status verifyBuffer(std::span<const uint8_t> bytes, const char *identifier, const char *what) {
    flatbuffers::Verifier::Options limits;
    limits.max_depth = 16;
    limits.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 4 + 1);
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), limits);
    if (verifier.VerifyBuffer<Root>(identifier)) {
      return {};
    }
    return Status::corruptFile(std::string("the ") + what + " tables are damaged");
  }

  /// Sizes as they are stored, less padding: an offset in a list and the start of its table, a
  /// list's length, a string's length and final zero.
  static constexpr uint64_t kItemBytes = 8;
  static constexpr uint64_t kListBytes = 4;
  static constexpr uint64_t kStringBytes = 5;

  Status take(uint64_t stored, uint64_t inMemory) {
    if (stored > content) {
      return Status::corruptFile("the graph refers to more data than it holds");
    }
    content -= stored;
    return memory.take(inMemory, "the graph");
  }

  Status text(const flatbuffers::String *from, std::string &to) {
    if (from) {
      TRACERT_TRY(take(kStringBytes + from->size(), from->size()));
      to.assign(from->c_str(), from->size());
    }
    return {};
  }

  Status strings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *from,
                 std::vector<std::string> &to) {
    if (!from) {
      return {};
    }
    TRACERT_TRY(take(kListBytes + sizeof(flatbuffers::uoffset_t) * uint64_t(from->size()),
                     sizeof(std::string) * uint64_t(from->size())));
    to.resize(from->size());
    for (flatbuffers::uoffset_t i = 0; i < from->size(); ++i) {
      TRACERT_TRY(text(from->Get(i), to[i]));
    }
    return {};
  }

  /// Appends one item per table: read(table, item).
  template <class T, class Item, class F>
  Status each(const flatbuffers::Vector<flatbuffers::Offset<T>> *from, std::vector<Item> &to,
              F &&read) {
    if (!from) {
      return {};
    }
    uint64_t count = from->size();
    TRACERT_TRY(take(kListBytes + kItemBytes * count, sizeof(Item) * count));
    to.reserve(to.size() + count);
    for (const T *table : *from) {
      TRACERT_TRY(read(*table, to.emplace_back()));
    }
    return {};
  }

  template <class T> Status numbers(const flatbuffers::Vector<T> *from, std::vector<T> &to) {
    if (from) {
      uint64_t bytes = sizeof(T) * uint64_t(from->size());
      TRACERT_TRY(take(kListBytes + bytes, bytes));
      to.assign(from->begin(), from->end());
    }
    return {};
  }

  Status dims(const flatbuffers::Vector<int64_t> *from, Dims &to) {
    if (from) {
      uint64_t bytes = sizeof(int64_t) * uint64_t(from->size());
      TRACERT_TRY(take(kListBytes + bytes, bytes));
      // Bytes, since the verifier checks the alignment of the length only.
      to.resize(from->size());
      std::memcpy(to.data(), from->Data(), bytes);
    }
    return {};
  }

  Status dtype(uint8_t raw, DType &to) const {
    if (!isKnownDType(raw)) {
      return Status::unsupported("dtype number " + std::to_string(raw) +
                                 " is not known to this build");
    }
    to = static_cast<DType>(raw);
    return {};
  }

  LoadBudget &memory;

private:
  /// Bytes of the tables that have not been visited.
  uint64_t content;
};

} // namespace tracert
