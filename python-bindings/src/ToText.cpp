#include "ToPython.h"

#include "TensorObject.h"
#include "tracec/Devices.h"
#include "tracert/Element.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <vector>

namespace tracec::python {

namespace {

constexpr int64_t kSummariseAbove = 1000;
constexpr int64_t kEdgeItems = 3;
constexpr size_t kLineWidth = 75;
constexpr int kPrecision = 8;

/// Which positions of an axis are shown: all, or the first and last few.
struct Layout {
  const TensorView &view;
  bool isSummarised;

  bool cuts(size_t axis) const { return isSummarised && view.shape[axis] > 2 * kEdgeItems; }
  template <class F> void eachShown(size_t axis, F &&visit) const {
    int64_t size = view.shape[axis];
    for (int64_t i = 0; i < size; ++i) {
      if (cuts(axis) && i == kEdgeItems) {
        i = size - kEdgeItems;
      }
      visit(i);
    }
  }
};

/// Shortest digits that give the same element back, in the wanted notation.
std::string shortest(DType dtype, double value, std::chars_format format) {
  char text[512];
  std::to_chars_result end{};
  // The shortest that is nearer to the element than to its neighbours.
  for (int digits = 1; tracert::dtypeSize(dtype) < sizeof(float) && digits <= 6; ++digits) {
    char guess[64];
    std::snprintf(guess, sizeof(guess), "%.*e", digits - 1, value);
    double rounded = std::strtod(guess, nullptr);
    uint64_t bits = tracert::floatBits(rounded, dtype);
    if (tracert::floatAt(&bits, dtype) == value) {
      end = std::to_chars(text, text + sizeof(text), rounded, format);
      return {text, end.ptr};
    }
  }
  if (dtype == DType::Float64) {
    end = std::to_chars(text, text + sizeof(text), value, format);
  } else {
    end = std::to_chars(text, text + sizeof(text), static_cast<float>(value), format);
  }
  return {text, end.ptr};
}

/// "12." and "34": at most kPrecision digits after the point.
struct Positional {
  std::string whole;
  std::string fraction;
};

Positional splitFixed(DType dtype, double value) {
  std::string text = shortest(dtype, value, std::chars_format::fixed);
  size_t point = text.find('.');
  if (point != std::string::npos && text.size() - point - 1 > kPrecision) {
    char rounded[512];
    std::snprintf(rounded, sizeof(rounded), "%.*f", kPrecision, value);
    text = rounded;
    text.erase(text.find_last_not_of('0') + 1);
    point = text.find('.');
  }
  if (point == std::string::npos) {
    return {text + ".", ""};
  }
  return {text.substr(0, point + 1), text.substr(point + 1)};
}

/// Formats all shown elements of one tensor alike, as NumPy does.
class ElementFormat {
public:
  ElementFormat(DType dtype, const std::vector<const char *> &elements) : dtype(dtype) {
    if (!tracert::isFloat(dtype)) {
      for (const char *data : elements) {
        width = std::max(width, plain(data).size());
      }
      return;
    }
    double largest = 0;
    double smallest = INFINITY;
    for (const char *data : elements) {
      double value = std::fabs(tracert::floatAt(data, dtype));
      if (std::isfinite(value) && value != 0) {
        largest = std::max(largest, value);
        smallest = std::min(smallest, value);
      }
    }
    isScientific = largest != 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
    for (const char *data : elements) {
      measure(tracert::floatAt(data, dtype));
    }
    size_t finite = wholeWidth + fractionWidth;
    width = std::max(finite, specialWidth);
  }

  std::string operator()(const char *data) const {
    if (!tracert::isFloat(dtype)) {
      return padLeft(plain(data));
    }
    double value = tracert::floatAt(data, dtype);
    if (!std::isfinite(value)) {
      return padLeft(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    }
    if (isScientific) {
      return padLeft(scientific(value));
    }
    Positional parts = splitFixed(dtype, value);
    std::string text = parts.whole + parts.fraction;
    text.append(fractionWidth - parts.fraction.size(), ' ');
    return padLeft(std::move(text));
  }

private:
  std::string plain(const char *data) const {
    if (tracert::isBool(dtype)) {
      return *data ? "True" : "False";
    }
    return tracert::integerText(data, dtype);
  }
  std::string scientific(double value) const {
    char text[64];
    std::snprintf(text, sizeof(text), "%.*e", std::max<int>(static_cast<int>(fractionDigits), 0),
                  value);
    std::string result(text);
    if (fractionDigits == 0) {
      result.insert(result.find('e'), ".");
    }
    return result;
  }
  void measure(double value) {
    if (!std::isfinite(value)) {
      specialWidth = std::max<size_t>(specialWidth, value < 0 ? 4 : 3);
      return;
    }
    if (isScientific) {
      std::string text = shortest(dtype, value, std::chars_format::scientific);
      size_t point = text.find('.');
      size_t digits = point == std::string::npos ? 0 : text.find('e') - point - 1;
      fractionDigits = std::max(fractionDigits, std::min<size_t>(digits, kPrecision));
      wholeWidth = std::max<size_t>(wholeWidth, std::signbit(value) ? 7 : 6);
      fractionWidth = fractionDigits;
      return;
    }
    Positional parts = splitFixed(dtype, value);
    wholeWidth = std::max(wholeWidth, parts.whole.size());
    fractionWidth = std::max(fractionWidth, parts.fraction.size());
  }
  std::string padLeft(std::string text) const {
    if (text.size() < width) {
      text.insert(0, width - text.size(), ' ');
    }
    return text;
  }

  DType dtype;
  bool isScientific = false;
  size_t width = 0;
  size_t wholeWidth = 0;
  size_t fractionWidth = 0;
  size_t fractionDigits = 0;
  size_t specialWidth = 0;
};

void collect(const Layout &layout, size_t axis, const char *data,
             std::vector<const char *> &elements) {
  if (axis == layout.view.rank()) {
    elements.push_back(data);
    return;
  }
  layout.eachShown(axis, [&](int64_t i) {
    collect(layout, axis + 1, data + i * layout.view.strides[axis], elements);
  });
}

/// One row; wraps at the line width.
std::string rowText(const Layout &layout, const char *data, const ElementFormat &format,
                    size_t indent) {
  size_t axis = layout.view.rank() - 1;
  std::string text = "[";
  size_t column = indent + 1;
  int64_t shown = 0;
  layout.eachShown(axis, [&](int64_t i) {
    if (layout.cuts(axis) && i == layout.view.shape[axis] - kEdgeItems) {
      text += "..., ";
      column += 5;
    }
    std::string element = format(data + i * layout.view.strides[axis]);
    if (shown > 0 && column + element.size() + 2 > kLineWidth) {
      text.erase(text.find_last_not_of(' ') + 1);
      text += "\n" + std::string(indent + 1, ' ');
      column = indent + 1;
    }
    text += element;
    column += element.size() + 2;
    if (i + 1 != layout.view.shape[axis]) {
      text += ", ";
    }
    ++shown;
  });
  return text + "]";
}

std::string nestText(const Layout &layout, size_t axis, const char *data,
                     const ElementFormat &format, size_t indent) {
  if (axis == layout.view.rank()) {
    return format(data);
  }
  if (axis + 1 == layout.view.rank()) {
    return rowText(layout, data, format, indent);
  }
  std::string separator = ",";
  separator.append(layout.view.rank() - axis - 1, '\n');
  separator.append(indent + 1, ' ');
  std::string text = "[";
  layout.eachShown(axis, [&](int64_t i) {
    if (layout.cuts(axis) && i == layout.view.shape[axis] - kEdgeItems) {
      text += separator.substr(1) + "..." + separator;
    }
    text += nestText(layout, axis + 1, data + i * layout.view.strides[axis], format, indent + 1);
    bool isLastShown = i + 1 == layout.view.shape[axis];
    bool isBeforeCut = layout.cuts(axis) && i + 1 == kEdgeItems;
    if (isBeforeCut) {
      text += ",";
    } else if (!isLastShown) {
      text += separator;
    }
  });
  return text + "]";
}

} // namespace

std::string valueText(const Value &wrapped) {
  const Value &value = innermost(wrapped);
  std::string suffix;
  DType dtype = value->dtype();
  if (dtype != DType::Bool && dtype != DType::Int32 && dtype != DType::Float32) {
    suffix = ", dtype=" + std::string(tracert::dtypeName(dtype));
  }
  if (value->state() == ValueImpl::State::Failed) {
    return "<failed: " + value->failure().message() + ">" + suffix;
  }
  if (value->state() == ValueImpl::State::Pending) {
    return "<pending " + value->type().str() + ">";
  }
  Result<Value> readable = onHost(value);
  if (!readable.ok()) {
    return "<failed: " + readable.status().message() + ">" + suffix;
  }
  const TensorView &view = (*readable)->view();
  int64_t count = view.elementCount();
  if (count == 0) {
    std::string shape = view.rank() == 1 ? "" : ", shape=" + tracert::shapeString(view.shape);
    return "[]" + shape + ", dtype=" + std::string(tracert::dtypeName(dtype));
  }
  Layout layout{view, count > kSummariseAbove};
  const char *data = static_cast<const char *>(view.data);
  std::vector<const char *> elements;
  collect(layout, 0, data, elements);
  ElementFormat format(dtype, elements);
  std::string text = nestText(layout, 0, data, format, /*indent=*/7);
  if (layout.isSummarised) {
    suffix = ", shape=" + tracert::shapeString(view.shape) + suffix;
  }
  return text + suffix;
}

PyObject *tensorText(PyObject *self) {
  Result<Value> value = tensorOf(self).read();
  std::string text = value.ok() ? valueText(*value) : "<failed: " + value.status().message() + ">";
  text = "tensor(" + text + ")";
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

} // namespace tracec::python
