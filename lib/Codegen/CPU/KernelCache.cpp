#include "Codegen/CPU/KernelCache.h"

namespace tracec {

size_t KernelCache::Entry::bytes() const {
  // The nodes of the list and of the map, about.
  constexpr size_t bookkeeping = sizeof(Entry) + 96;
  return key.capacity() + blob.bytes.capacity() + bookkeeping;
}

const FlatBlob *KernelCache::find(std::string_view key) {
  auto found = byKey.find(key);
  if (found == byKey.end()) {
    return nullptr;
  }
  entries.splice(entries.begin(), entries, found->second);
  return &found->second->blob;
}

const FlatBlob &KernelCache::add(std::string key, FlatBlob blob) {
  key.shrink_to_fit();
  blob.bytes.shrink_to_fit();
  entries.push_front({std::move(key), std::move(blob)});
  Entry &newest = entries.front();
  byKey[newest.key] = entries.begin();
  usedBytes += newest.bytes();
  while (usedBytes > maxBytes && entries.size() > 1) {
    dropOldest();
  }
  return newest.blob;
}

void KernelCache::dropOldest() {
  usedBytes -= entries.back().bytes();
  byKey.erase(entries.back().key);
  entries.pop_back();
}

} // namespace tracec
