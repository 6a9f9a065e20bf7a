/// A small vector of trivially copyable elements with N of them stored inline.
///
///   InlineVector<int64_t, 6> dims = {2, 3}; dims.push_back(4);
///
/// Shapes, strides and axis lists use it so that eager dispatch does not allocate up to rank 6.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace tracert {

template <class T, uint32_t N> class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  using value_type = T;
  using iterator = T *;
  using const_iterator = const T *;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  explicit InlineVector(size_t count, T fill = T()) { resize(count, fill); }
  template <class It> InlineVector(It first, It last) { append(first, last); }
  InlineVector(const InlineVector &other) { copy(other); }
  InlineVector(InlineVector &&other) noexcept { take(other); }
  InlineVector &operator=(const InlineVector &other) {
    if (this != &other) {
      count = 0;
      copy(other);
    }
    return *this;
  }
  InlineVector &operator=(InlineVector &&other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { release(); }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return elements; }
  const T *data() const { return elements; }
  T &operator[](size_t i) {
    assert(i < count);
    return elements[i];
  }
  const T &operator[](size_t i) const {
    assert(i < count);
    return elements[i];
  }
  T &front() { return (*this)[0]; }
  T &back() { return (*this)[count - 1]; }
  const T &front() const { return (*this)[0]; }
  const T &back() const { return (*this)[count - 1]; }
  T *begin() { return elements; }
  T *end() { return elements + count; }
  const T *begin() const { return elements; }
  const T *end() const { return elements + count; }

  void clear() { count = 0; }
  void push_back(T value) {
    reserve(count + 1);
    elements[count++] = value;
  }
  void pop_back() {
    assert(count > 0);
    --count;
  }
  void resize(size_t newSize, T fill = T()) {
    reserve(newSize);
    for (size_t i = count; i < newSize; ++i) {
      elements[i] = fill;
    }
    count = static_cast<uint32_t>(newSize);
  }
  void assign(size_t newSize, T fill) {
    count = 0;
    resize(newSize, fill);
  }
  template <class It> void append(It first, It last) {
    for (; first != last; ++first) {
      push_back(*first);
    }
  }
  void insert(size_t position, T value) {
    assert(position <= count);
    push_back(value);
    std::rotate(elements + position, elements + count - 1, elements + count);
  }
  void erase(size_t position) {
    assert(position < count);
    std::memmove(elements + position, elements + position + 1, (count - position - 1) * sizeof(T));
    --count;
  }
  void reserve(size_t wanted) {
    if (wanted <= capacity) {
      return;
    }
    size_t grown = std::max<size_t>(wanted, capacity * 2);
    T *fresh = new T[grown];
    std::copy(elements, elements + count, fresh);
    release();
    elements = fresh;
    capacity = static_cast<uint32_t>(grown);
  }

  friend bool operator==(const InlineVector &a, const InlineVector &b) {
    return a.count == b.count && std::equal(a.begin(), a.end(), b.begin());
  }

private:
  void release() {
    if (elements != inlineElements) {
      delete[] elements;
      elements = inlineElements;
      capacity = N;
    }
  }
  /// All inline elements, used or not: a few moves of a fixed size instead of a loop.
  void copyInline(const InlineVector &other) {
    std::memcpy(inlineElements, other.inlineElements, sizeof(inlineElements));
  }
  /// This one is empty.
  void copy(const InlineVector &other) {
    if (elements == inlineElements && other.elements == other.inlineElements) {
      copyInline(other);
      count = other.count;
      return;
    }
    append(other.begin(), other.end());
  }
  void take(InlineVector &other) {
    if (other.elements == other.inlineElements) {
      copyInline(other);
      elements = inlineElements;
      capacity = N;
    } else {
      elements = other.elements;
      capacity = other.capacity;
      other.elements = other.inlineElements;
      other.capacity = N;
    }
    count = other.count;
    other.count = 0;
  }

  T *elements = inlineElements;
  uint32_t count = 0;
  uint32_t capacity = N;
  T inlineElements[N];
};

} // namespace tracert
