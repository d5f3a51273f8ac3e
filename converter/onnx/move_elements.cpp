// SPDX-License-Identifier: Apache-2.0
//
// The operators that put elements elsewhere and compute nothing.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/onnx/trace.h"
#include "host/base/bytes.h"

namespace mote::convert {
namespace {

using Dims = std::vector<uint64_t>;

/// How far apart neighbours along each dimension lie.
Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Dims position_of(uint64_t index, const Dims& dims) {
  Dims position(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    position[i] = index % dims[i];
    index /= dims[i];
  }
  return position;
}

/// A tensor of `dims` whose element at a position is the source's at the index that `from` gives for it.
template <class From>
Traced move_from(const OnnxStep& step, const Traced& source, const Dims& dims, const From& from) {
  std::vector<TracedElement> elements = step.reserve(dims);
  const uint64_t count = *element_count(dims);
  for (uint64_t i = 0; i < count; ++i) elements.push_back(source->at(from(position_of(i, dims))));
  return step.make(source->kind, dims, std::move(elements));
}

Traced with_dims(const OnnxStep& step, const Traced& source, const Dims& dims) {
  if (element_count(dims) != source->size()) step.refuse("the new shape has another number of elements");
  auto result = std::make_shared<TracedTensor>(*source);
  if (source->transposed)
    return move_from(step, source, dims, [&](const Dims& at) {
      const Dims strides = strides_of(dims);
      return std::inner_product(at.begin(), at.end(), strides.begin(), uint64_t{0});
    });
  result->dims = dims;
  return result;
}

Traced reshape(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const std::vector<int64_t> wanted = step.integers(1, "shape");
  Dims dims;
  uint64_t known = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < wanted.size(); ++i) {
    uint64_t dim = static_cast<uint64_t>(std::max<int64_t>(wanted[i], 0));
    if (wanted[i] == 0 && step.node.integer("allowzero", 0) == 0) {
      if (i >= source->dims.size()) step.refuse("its shape copies a dimension that there is not");
      dim = source->dims[i];
    }
    if (wanted[i] < 0) {
      if (open) step.refuse("its shape has two open dimensions");
      open = i;
      dim = 1;
    }
    dims.push_back(dim);
    if (__builtin_mul_overflow(known, dim, &known)) step.refuse("its shape is too large");
  }
  if (open) dims[*open] = known == 0 ? 0 : source->size() / known;
  return with_dims(step, source, dims);
}

Traced unsqueeze(const OnnxStep& step) {
  const Traced& source = step.input(0);
  std::vector<int64_t> axes = step.integers(1, "axes");
  for (int64_t& axis : axes) axis = step.axis(axis, source->dims.size() + axes.size());
  std::sort(axes.begin(), axes.end());
  Dims dims = source->dims;
  for (const int64_t axis : axes) {
    if (static_cast<size_t>(axis) > dims.size()) step.refuse("its axes are not those of its output");
    dims.insert(dims.begin() + axis, 1);
  }
  return with_dims(step, source, dims);
}

Traced squeeze(const OnnxStep& step) {
  const Traced& source = step.input(0);
  std::vector<int64_t> axes;
  if (step.has(1) || step.node.find("axes") != nullptr) axes = step.integers(1, "axes");
  std::vector<bool> dropped(source->dims.size(), axes.empty());
  for (const int64_t axis : axes) dropped[static_cast<size_t>(step.axis(axis, dropped.size()))] = true;
  Dims dims;
  for (size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i] && source->dims[i] == 1) continue;
    if (dropped[i] && !axes.empty()) step.refuse("it drops a dimension of {}", source->dims[i]);
    dims.push_back(source->dims[i]);
  }
  return with_dims(step, source, dims);
}

Traced flatten(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const int64_t axis = step.node.integer("axis", 1);
  const auto rank = static_cast<int64_t>(source->dims.size());
  if (axis < -rank || axis > rank) step.refuse("axis {} of a tensor of {} dimensions", axis, rank);
  const auto first = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  Dims dims = {1, 1};
  for (size_t i = 0; i < source->dims.size(); ++i) dims[i < first ? 0 : 1] *= source->dims[i];
  return with_dims(step, source, dims);
}

Traced transpose(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const size_t rank = source->dims.size();
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
  if (const OnnxAttribute* given = step.node.find("perm")) order = given->integers;
  std::vector<bool> seen(rank);
  for (const int64_t axis : order) {
    if (order.size() != rank || axis < 0 || axis >= static_cast<int64_t>(rank) ||
        seen[static_cast<size_t>(axis)])
      step.refuse("its perm is no order of {} dimensions", rank);
    seen[static_cast<size_t>(axis)] = true;
  }
  Dims dims;
  for (const int64_t axis : order) dims.push_back(source->dims[static_cast<size_t>(axis)]);
  const TracedAtom* atom = step.trace.atom(source);
  if (atom != nullptr && atom->weight != nullptr && order == std::vector<int64_t>{1, 0}) {
    auto result = std::make_shared<TracedTensor>(*source);
    result->dims = dims;
    result->transposed = true;
    return result;
  }
  const Dims strides = strides_of(source->dims);
  return move_from(step, source, dims, [&](const Dims& at) {
    uint64_t index = 0;
    for (size_t i = 0; i < at.size(); ++i) index += at[i] * strides[static_cast<size_t>(order[i])];
    return index;
  });
}

Traced slice_elements(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const std::vector<int64_t> starts = step.integers(1, "starts"), ends = step.integers(2, "ends");
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (step.has(3) || step.node.find("axes") != nullptr) axes = step.integers(3, "axes");
  if (step.has(4)) steps = step.integers(4);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    step.refuse("its starts, ends, axes and steps are not equally many");
  Dims dims = source->dims;
  std::vector<int64_t> first(dims.size(), 0), by(dims.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<size_t>(step.axis(axes[i], dims.size()));
    const auto size = static_cast<int64_t>(source->dims[axis]);
    if (steps[i] == 0) step.refuse("a step of 0");
    const bool forward = steps[i] > 0;
    const auto within = [&](int64_t at) {
      if (at < 0) at += size;
      return forward ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
    };
    const int64_t begin = std::min(within(starts[i]), forward ? size : size - 1);
    const int64_t end = !forward && ends[i] < -size ? -1 : within(ends[i]);
    const int64_t span = forward ? end - begin : begin - end, stride = std::abs(steps[i]);
    dims[axis] = span <= 0 ? 0 : static_cast<uint64_t>((span - 1) / stride + 1);
    first[axis] = begin;
    by[axis] = steps[i];
  }
  const bool takes_all = dims == source->dims;
  const bool in_order = std::all_of(by.begin(), by.end(), [](int64_t one) { return one == 1; });
  if (takes_all && in_order) return source;
  const Dims strides = strides_of(source->dims);
  return move_from(step, source, dims, [&](const Dims& at) {
    int64_t index = 0;
    for (size_t i = 0; i < at.size(); ++i)
      index += (first[i] + static_cast<int64_t>(at[i]) * by[i]) * static_cast<int64_t>(strides[i]);
    return static_cast<uint64_t>(index);
  });
}

uint64_t index_in(const OnnxStep& step, int64_t index, uint64_t size) {
  const int64_t from_start = index < 0 ? index + static_cast<int64_t>(size) : index;
  if (from_start < 0 || static_cast<uint64_t>(from_start) >= size)
    step.refuse("it takes element {} of {}", index, size);
  return static_cast<uint64_t>(from_start);
}

Traced gather(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const std::vector<int64_t> indices = step.integers(1);
  const auto axis = static_cast<size_t>(step.axis(step.node.integer("axis", 0), source->dims.size()));
  const Dims& inner = step.input(1)->dims;
  Dims dims(source->dims.begin(), source->dims.begin() + static_cast<int64_t>(axis));
  dims.insert(dims.end(), inner.begin(), inner.end());
  dims.insert(dims.end(), source->dims.begin() + static_cast<int64_t>(axis) + 1, source->dims.end());
  const Dims strides = strides_of(source->dims), inner_strides = strides_of(inner);
  return move_from(step, source, dims, [&](const Dims& at) {
    uint64_t index = 0, which = 0;
    for (size_t i = 0; i < axis; ++i) index += at[i] * strides[i];
    for (size_t i = 0; i < inner.size(); ++i) which += at[axis + i] * inner_strides[i];
    index += index_in(step, indices[which], source->dims[axis]) * strides[axis];
    for (size_t i = axis + 1; i < source->dims.size(); ++i) index += at[i + inner.size() - 1] * strides[i];
    return index;
  });
}

Traced gather_nd(const OnnxStep& step) {
  const Traced &source = step.input(0), &places = step.input(1);
  if (step.node.integer("batch_dims", 0) != 0 || places->dims.empty())
    step.refuse("batch_dims are not supported");
  const std::vector<int64_t> indices = step.integers(1);
  const uint64_t depth = places->dims.back();
  if (depth > source->dims.size()) step.refuse("indices of {} dimensions", depth);
  Dims dims(places->dims.begin(), places->dims.end() - 1);
  const size_t outer = dims.size();
  dims.insert(dims.end(), source->dims.begin() + static_cast<int64_t>(depth), source->dims.end());
  const Dims strides = strides_of(source->dims), place_strides = strides_of(places->dims);
  return move_from(step, source, dims, [&](const Dims& at) {
    uint64_t index = 0, place = 0;
    for (size_t i = 0; i < outer; ++i) place += at[i] * place_strides[i];
    for (uint64_t i = 0; i < depth; ++i)
      index += index_in(step, indices[place + i], source->dims[i]) * strides[i];
    for (size_t i = outer; i < at.size(); ++i) index += at[i] * strides[i - outer + depth];
    return index;
  });
}

Traced concat(const OnnxStep& step) {
  const Traced& first = step.input(0);
  const auto axis = static_cast<size_t>(step.axis(step.node.integer("axis", 0), first->dims.size()));
  Dims dims = first->dims;
  dims[axis] = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Traced& part = step.input(i);
    if (part->dims.size() != dims.size()) step.refuse("its inputs differ in their number of dimensions");
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d == axis)
        dims[d] += part->dims[d];
      else if (part->dims[d] != dims[d])
        step.refuse("its inputs differ in dimension {}", d);
    }
  }
  std::vector<TracedElement> elements = step.reserve(dims);
  uint64_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= dims[i];
  for (uint64_t row = 0; row < outer; ++row) {
    for (const Traced& part : step.inputs) {
      const uint64_t span = part->size() / outer;
      for (uint64_t i = 0; i < span; ++i) elements.push_back(part->at(row * span + i));
    }
  }
  return step.make(first->kind, dims, std::move(elements));
}

std::vector<Traced> split_elements(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const auto axis = static_cast<size_t>(step.axis(step.node.integer("axis", 0), source->dims.size()));
  const uint64_t size = source->dims[axis], parts = step.node.outputs.size();
  std::vector<int64_t> sizes;
  if (step.has(1) || step.node.find("split") != nullptr) sizes = step.integers(1, "split");
  for (uint64_t left = size; sizes.size() < parts;) {
    const uint64_t part = std::min(left, (size + parts - 1) / parts);
    sizes.push_back(static_cast<int64_t>(part));
    left -= part;
  }
  const Dims strides = strides_of(source->dims);
  std::vector<Traced> outputs;
  uint64_t start = 0;
  for (const int64_t part : sizes) {
    if (part < 0 || static_cast<uint64_t>(part) > size - start)
      step.refuse("its parts are more than there is");
    Dims dims = source->dims;
    dims[axis] = static_cast<uint64_t>(part);
    outputs.push_back(move_from(step, source, dims, [&](const Dims& at) {
      return std::inner_product(at.begin(), at.end(), strides.begin(), start * strides[axis]);
    }));
    start += static_cast<uint64_t>(part);
  }
  return outputs;
}

Traced expand(const OnnxStep& step) {
  const Traced& source = step.input(0);
  Dims wanted;
  for (const int64_t dim : step.integers(1))
    wanted.push_back(static_cast<uint64_t>(std::max<int64_t>(dim, 0)));
  const Dims dims = broadcast(step, source->dims, wanted), strides = strides_of(dims);
  if (dims == source->dims) return source;
  return move_from(step, source, dims, [&](const Dims& at) {
    const uint64_t index = std::inner_product(at.begin(), at.end(), strides.begin(), uint64_t{0});
    return broadcast_index(index, dims, source->dims);
  });
}

/// Where the condition is known.
Traced where(const OnnxStep& step) {
  const Traced &condition = step.input(0), &yes = step.input(1), &no = step.input(2);
  const Dims dims = broadcast(step, condition->dims, broadcast(step, yes->dims, no->dims));
  std::vector<TracedElement> elements = step.reserve(dims);
  const uint64_t count = *element_count(dims);
  for (uint64_t i = 0; i < count; ++i) {
    const bool is_true = condition->at(broadcast_index(i, dims, condition->dims)).number() != 0.0f;
    const Traced& from = is_true ? yes : no;
    elements.push_back(from->at(broadcast_index(i, dims, from->dims)));
  }
  return step.make(yes->kind, dims, std::move(elements));
}

/// The lower or the upper triangle of known numbers.
Traced trilu(const OnnxStep& step) {
  const Traced& source = step.input(0);
  if (source->dims.size() < 2) step.refuse("a triangle of {} dimensions", source->dims.size());
  const std::vector<int64_t> shifts = step.has(1) ? step.integers(1) : std::vector<int64_t>{0};
  if (shifts.size() != 1) step.refuse("{} numbers say where its triangle begins", shifts.size());
  const int64_t shift = shifts[0];
  const bool upper = step.node.integer("upper", 1) != 0;
  const uint64_t cols = source->dims.back(), rows = source->dims[source->dims.size() - 2];
  std::vector<TracedElement> elements = step.reserve(source->dims);
  for (uint64_t i = 0; i < source->size(); ++i) {
    const auto row = static_cast<int64_t>(i / cols % rows), col = static_cast<int64_t>(i % cols);
    const bool kept = upper ? col >= row + shift : col <= row + shift;
    elements.push_back(kept ? source->at(i) : TracedElement::of(0.0f));
  }
  return step.make(source->kind, source->dims, std::move(elements));
}

Traced shape(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const auto rank = static_cast<int64_t>(source->dims.size());
  const auto within = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = within(step.node.integer("start", 0)), end = within(step.node.integer("end", rank));
  std::vector<TracedElement> elements;
  for (int64_t i = start; i < end; ++i)
    elements.push_back(TracedElement::of(static_cast<float>(source->dims[static_cast<size_t>(i)])));
  const Dims dims = {elements.size()};
  return step.make(TracedKind::integer, dims, std::move(elements));
}

}  // namespace

bool move_elements(const OnnxStep& step, std::vector<Traced>& outputs) {
  using Mover = Traced (*)(const OnnxStep&);
  static const std::map<std::string, Mover> kMovers = {
      {"Reshape", reshape},     {"Unsqueeze", unsqueeze},  {"Squeeze", squeeze}, {"Flatten", flatten},
      {"Transpose", transpose}, {"Slice", slice_elements}, {"Gather", gather},   {"GatherND", gather_nd},
      {"Concat", concat},       {"Expand", expand},        {"Trilu", trilu},     {"Shape", shape}};
  const std::string& op = step.node.op;
  if (!step.node.domain.empty()) return false;
  if (const auto mover = kMovers.find(op); mover != kMovers.end()) {
    outputs = {mover->second(step)};
  } else if (op == "Split") {
    outputs = split_elements(step);
  } else if (op == "Where" && step.input(0)->is_numbers()) {
    outputs = {where(step)};
  } else if (op == "Identity" || op == "Dropout") {  // which drops in training alone
    outputs = {step.input(0)};
  } else {
    return false;
  }
  return true;
}

std::vector<uint64_t> broadcast(const OnnxStep& step, const Dims& a, const Dims& b) {
  Dims dims(std::max(a.size(), b.size()), 1);
  for (const Dims* one : {&a, &b}) {
    for (size_t i = 0; i < one->size(); ++i) {
      uint64_t& dim = dims[dims.size() - one->size() + i];
      const uint64_t own = (*one)[i];
      if (dim != 1 && own != 1 && dim != own) step.refuse("shapes that do not fit each other");
      if (own != 1) dim = own;
    }
  }
  return dims;
}

uint64_t broadcast_index(uint64_t index, const Dims& to, const Dims& dims) {
  uint64_t result = 0, stride = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from_end = to.size() - 1 - i;
    const uint64_t at = index % to[from_end];
    index /= to[from_end];
    const uint64_t own = dims[dims.size() - 1 - i];
    if (own != 1) result += at * stride;
    stride *= own;
  }
  return result;
}

}  // namespace mote::convert
