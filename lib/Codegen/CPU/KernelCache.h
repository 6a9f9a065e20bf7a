/// KernelCache: the compiled kernels of this process, by their text; bounded by bytes, the least
/// recently used goes.
///
///   KernelCache cache(tracert::kMaxCompiledKernelBytes);
///   const FlatBlob *blob = cache.find(key);
///   if (!blob) { blob = &cache.add(key, compile()); }
///
/// A blob stays where it is until the next add. The newest one is kept even when it is larger than
/// the bound. One caller at a time.
#pragma once

#include "Codegen/CPU/FlatBlob.h"

#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracec {

class KernelCache {
public:
  explicit KernelCache(size_t maxBytes) : maxBytes(maxBytes) {}

  const FlatBlob *find(std::string_view key);
  const FlatBlob &add(std::string key, FlatBlob blob);
  /// What the entries take, keys and bookkeeping included.
  size_t bytes() const { return usedBytes; }
  size_t size() const { return entries.size(); }

private:
  struct Entry {
    std::string key;
    FlatBlob blob;
    size_t bytes() const;
  };
  void dropOldest();

  size_t maxBytes;
  size_t usedBytes = 0;
  /// Most recently used first.
  std::list<Entry> entries;
  /// Keys point into the entries.
  std::unordered_map<std::string_view, std::list<Entry>::iterator> byKey;
};

} // namespace tracec
