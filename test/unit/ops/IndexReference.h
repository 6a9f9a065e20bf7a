/// NumPy's indexing by enumeration, written without strides: for every position of the result, the
/// position of the source. Slow and plain on purpose.
///
///   Selected selected = selectByEnumeration({3, 4}, {sliceOf(1, none), arrayOf({2}, {0, 3})});
#pragma once

#include "TestTensors.h"
#include "tracert/IndexNormalizer.h"

#include <optional>
#include <string>

namespace tracert::test {

/// One entry of an index tuple with its data.
struct IndexEntry {
  RawIndex raw;
  /// IntArray and Mask.
  Dims shape;
  std::vector<int64_t> values;
};

struct Selected {
  Dims shape;
  /// Flat source position of each result position, both in C order.
  std::vector<int64_t> sources;
  /// Not empty: an IndexError is expected.
  std::string error;
};

/// list(range(size))[begin:end:step], by walking.
inline std::vector<int64_t> slicedRange(const RawIndex &slice, int64_t size) {
  std::vector<int64_t> chosen;
  int64_t step = slice.step;
  auto position = [&](int64_t bound) { return bound < 0 ? bound + size : bound; };
  if (step > 0) {
    int64_t begin = std::max<int64_t>(0, slice.begin ? position(*slice.begin) : 0);
    int64_t end = slice.end ? position(*slice.end) : size;
    for (int64_t i = begin; i < size && i < end; i += step) {
      chosen.push_back(i);
    }
    return chosen;
  }
  int64_t begin = std::min(size - 1, slice.begin ? position(*slice.begin) : size - 1);
  // An absent end goes past position 0; a given one that is below it does as well.
  int64_t end = slice.end ? position(*slice.end) : -1;
  for (int64_t i = begin; i >= 0 && i > end; i += step) {
    chosen.push_back(i);
  }
  return chosen;
}

namespace detail {

using Kind = RawIndex::Kind;

/// Masks become index arrays, Ellipsis becomes full slices; 'a' advanced, 's' anything that
/// separates.
struct Expanded {
  std::vector<IndexEntry> entries;
  std::string pattern;
};

inline Expanded expand(const Dims &shape, const std::vector<IndexEntry> &index) {
  Expanded result;
  size_t used = 0;
  bool hasArray = false;
  bool hasEllipsis = false;
  for (const IndexEntry &entry : index) {
    Kind kind = entry.raw.kind;
    used += kind == Kind::Mask                                ? entry.shape.size()
            : kind == Kind::NewAxis || kind == Kind::Ellipsis ? 0
                                                              : 1;
    hasArray = hasArray || kind == Kind::Mask || kind == Kind::IntArray;
    hasEllipsis = hasEllipsis || kind == Kind::Ellipsis;
  }
  std::vector<IndexEntry> full = index;
  if (!hasEllipsis) {
    full.push_back({RawIndex::ellipsis(), {}, {}});
  }
  for (size_t i = 0; i < full.size(); ++i) {
    IndexEntry entry = full[i];
    switch (entry.raw.kind) {
    case Kind::Ellipsis:
      result.entries.insert(result.entries.end(), shape.size() - used,
                            {RawIndex::slice(std::nullopt, std::nullopt), {}, {}});
      if (i < index.size()) {
        result.pattern += 's';
      }
      break;
    case Kind::Int:
      if (hasArray) {
        // Its literal stays in raw.begin, which marks it as an int.
        entry.values = {*entry.raw.begin};
        entry.raw.kind = Kind::IntArray;
      }
      result.pattern += 'a';
      result.entries.push_back(entry);
      break;
    case Kind::IntArray:
      result.pattern += 'a';
      result.entries.push_back(entry);
      break;
    case Kind::Mask: {
      result.pattern += 'a';
      std::vector<std::vector<int64_t>> places;
      for (size_t flat = 0; flat < entry.values.size(); ++flat) {
        if (entry.values[flat]) {
          places.push_back(coordinatesOf(entry.shape, static_cast<int64_t>(flat)));
        }
      }
      int64_t count = static_cast<int64_t>(places.size());
      for (size_t axis = 0; axis < entry.shape.size(); ++axis) {
        IndexEntry column{RawIndex::intArray(), {count}, {}};
        for (const std::vector<int64_t> &place : places) {
          column.values.push_back(place[axis]);
        }
        result.entries.push_back(column);
      }
      if (entry.shape.empty()) {
        // Uses no axis but broadcasts with (1,) or (0,): kept as a mask.
        result.entries.push_back({RawIndex::mask(0), {count}, {}});
      }
      break;
    }
    default:
      result.pattern += 's';
      result.entries.push_back(entry);
    }
  }
  return result;
}

inline bool isAdvanced(const IndexEntry &entry) {
  return entry.raw.kind == Kind::IntArray || entry.raw.kind == Kind::Mask;
}

/// The value that an array of `shape` has at a place of the broadcast shape.
inline int64_t broadcastValue(const IndexEntry &entry, const std::vector<int64_t> &place) {
  int64_t flat = 0;
  size_t added = place.size() - entry.shape.size();
  for (size_t axis = 0; axis < entry.shape.size(); ++axis) {
    flat = flat * entry.shape[axis] + (entry.shape[axis] == 1 ? 0 : place[axis + added]);
  }
  return entry.values[static_cast<size_t>(flat)];
}

inline std::string rangeError(int64_t index, size_t axis, int64_t size) {
  return "index " + std::to_string(index) + " is out of range for axis " + std::to_string(axis) +
         " of size " + std::to_string(size);
}

} // namespace detail

/// `index` must not have too many entries; its arrays must broadcast or the error says so.
inline Selected selectByEnumeration(const Dims &shape, const std::vector<IndexEntry> &index) {
  using namespace detail;
  Selected selected;
  Expanded expanded = expand(shape, index);
  std::vector<size_t> entryAxes;
  size_t used = 0;
  for (const IndexEntry &entry : expanded.entries) {
    entryAxes.push_back(used);
    used += entry.raw.kind != Kind::NewAxis && entry.raw.kind != Kind::Mask;
  }
  auto check = [&](size_t e, int64_t value) {
    int64_t size = shape[entryAxes[e]];
    if (selected.error.empty() && (value < -size || value >= size)) {
      selected.error = rangeError(value, entryAxes[e], size);
    }
  };
  // Ints are known before any data is read.
  for (size_t e = 0; e < expanded.entries.size(); ++e) {
    const RawIndex &raw = expanded.entries[e].raw;
    if (raw.begin && (raw.kind == Kind::Int || raw.kind == Kind::IntArray)) {
      check(e, *raw.begin);
    }
  }
  if (!selected.error.empty()) {
    return selected;
  }
  // Broadcast of the index arrays.
  Dims joined;
  bool hasAdvanced = false;
  for (const IndexEntry &entry : expanded.entries) {
    if (!isAdvanced(entry)) {
      continue;
    }
    hasAdvanced = true;
    while (joined.size() < entry.shape.size()) {
      joined.insert(0, 1);
    }
    for (size_t i = 1; i <= entry.shape.size(); ++i) {
      int64_t &dim = joined[joined.size() - i];
      int64_t other = entry.shape[entry.shape.size() - i];
      if (dim != other && dim != 1 && other != 1) {
        selected.error = "do not broadcast";
        return selected;
      }
      dim = dim == 1 ? other : dim;
    }
  }
  // Advanced axes stay where they are when the pattern is s*a+s*.
  size_t firstA = expanded.pattern.find('a');
  size_t lastA = expanded.pattern.rfind('a');
  bool isTogether =
      firstA == std::string::npos ||
      expanded.pattern.substr(firstA, lastA - firstA + 1).find('s') == std::string::npos;
  std::vector<std::vector<int64_t>> choices; // per non-advanced result axis; empty for NewAxis
  size_t place = 0;
  bool hasPlace = false;
  for (size_t e = 0; e < expanded.entries.size(); ++e) {
    const IndexEntry &entry = expanded.entries[e];
    if (isAdvanced(entry)) {
      if (!hasPlace) {
        hasPlace = true;
        place = choices.size();
      }
      continue;
    }
    if (entry.raw.kind == Kind::NewAxis) {
      choices.push_back({-1});
    } else if (entry.raw.kind == Kind::Slice) {
      choices.push_back(slicedRange(entry.raw, shape[entryAxes[e]]));
    }
  }
  if (!isTogether) {
    place = 0;
  }
  for (size_t i = 0; i <= choices.size(); ++i) {
    if (hasAdvanced && i == place) {
      for (int64_t dim : joined) {
        selected.shape.push_back(dim);
      }
    }
    if (i < choices.size()) {
      selected.shape.push_back(static_cast<int64_t>(choices[i].size()));
    }
  }
  // The broadcast positions in C order, or each array on its own if there are none.
  int64_t joinedCount = countOf(joined);
  for (int64_t flat = 0; flat < joinedCount; ++flat) {
    for (size_t e = 0; e < expanded.entries.size(); ++e) {
      if (expanded.entries[e].raw.kind == Kind::IntArray) {
        check(e, broadcastValue(expanded.entries[e], coordinatesOf(joined, flat)));
      }
    }
  }
  for (size_t e = 0; e < expanded.entries.size(); ++e) {
    const IndexEntry &entry = expanded.entries[e];
    if (joinedCount == 0 && entry.raw.kind == Kind::IntArray) {
      for (int64_t value : entry.values) {
        check(e, value);
      }
    }
  }
  if (!selected.error.empty()) {
    return selected;
  }
  for (int64_t flat = 0; flat < countOf(selected.shape); ++flat) {
    std::vector<int64_t> at = coordinatesOf(selected.shape, flat);
    std::vector<int64_t> joinedAt(at.begin() + place, at.begin() + place + joined.size());
    at.erase(at.begin() + place, at.begin() + place + joined.size());
    int64_t source = 0;
    size_t nextChoice = 0;
    for (size_t e = 0; e < expanded.entries.size(); ++e) {
      const IndexEntry &entry = expanded.entries[e];
      int64_t value = 0;
      if (entry.raw.kind == Kind::NewAxis) {
        ++nextChoice;
        continue;
      }
      if (entry.raw.kind == Kind::Mask) {
        continue;
      }
      if (entry.raw.kind == Kind::Slice) {
        value = choices[nextChoice][static_cast<size_t>(at[nextChoice])];
        ++nextChoice;
      } else if (entry.raw.kind == Kind::Int) {
        value = *entry.raw.begin;
      } else {
        value = broadcastValue(entry, joinedAt);
      }
      int64_t size = shape[entryAxes[e]];
      source = source * size + (value < 0 ? value + size : value);
    }
    selected.sources.push_back(source);
  }
  return selected;
}

} // namespace tracert::test
