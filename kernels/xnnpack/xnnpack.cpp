// SPDX-License-Identifier: Apache-2.0
//
// The backend in its region: mote_backend, for each operation the place of its slices, the slices, XNNPACK's
// operators.
#include "mote/xnnpack.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <xnnpack.h>

#include "kernels/xnnpack/allocator.h"
#include "runtime/error.h"

namespace mote::xnnpack {
namespace {

// Models whose layers share weights (ALBERT) need the operators of a layer once. An operation looks for an
// equal one among so many operations after it; a layer has about ten.
constexpr uint32_t kLookAhead = 64;

/// An operator and its lock: setting it up for an input and running it change its state.
struct Slice {
  pthread_mutex_t mutex;
  xnn_operator_t op;
};

bool equal(const mote_linear& a, const mote_linear& b) {
  return a.weight == b.weight && a.bias == b.bias && a.outputs == b.outputs && a.inputs == b.inputs &&
         a.in_stride == b.in_stride && a.out_stride == b.out_stride;
}

int run_linear(void* user, uint32_t op, uint32_t index, const float* in, uint32_t rows, float* out) {
  Slice& slice = static_cast<Slice**>(user)[op][index];
  pthread_mutex_lock(&slice.mutex);
  const bool done =
      xnn_setup_fully_connected_nc_f32(slice.op, rows, in, out, nullptr) == xnn_status_success &&
      xnn_run_operator(slice.op, nullptr) == xnn_status_success;
  pthread_mutex_unlock(&slice.mutex);
  return done;
}

/// Lays a backend out; without a region only counts. The region's end holds, for one slice at a time, the
/// weights in the order that XNNPACK takes. Operations are made from the last one on: of language models that
/// is the head, their largest matrix, and its end of the region is then still free for the smaller ones.
class Maker {
 public:
  Maker(const mote_model* model, uint32_t slices, void* region, uint64_t bytes)
      : model_(model),
        slices_(slices),
        region_(static_cast<uint8_t*>(region)),
        bytes_(bytes),
        arena_(region, bytes, Arena::Gaps::none),
        placement_(&arena_, bytes) {}

  mote_status make(mote_error* error) {
    operations_ = mote_model_operations(model_);
    backend_ = arena_.take<mote_backend>(1);
    table_ = arena_.take<Slice*>(operations_);
    most_ = arena_.used();
    for (uint32_t op = operations_; op-- > 0;) {
      if (!make_operation(op)) {
        return fail_at(error, MOTE_UNSUPPORTED_FILE, static_cast<int32_t>(op), "op ", op,
                       " linear: XNNPACK makes no operator for it");
      }
    }
    if (backend_ != nullptr) *backend_ = {model_, table_, slices_, 0, run_linear, {}};
    return MOTE_OK;
  }

  uint64_t most_bytes() const { return most_; }
  const mote_backend* backend() const { return backend_; }

 private:
  bool make_operation(uint32_t op) {
    if (table_ != nullptr) table_[op] = nullptr;
    mote_linear linear;
    if (mote_model_linear(model_, op, slices_, &linear) == 0) return true;
    const uint32_t end = operations_ - op > kLookAhead ? op + kLookAhead : operations_;
    for (uint32_t other = op + 1; other < end; ++other) {
      mote_linear later;
      if (mote_model_linear(model_, other, slices_, &later) == 0 || !equal(linear, later)) continue;
      if (table_ != nullptr) table_[op] = table_[other];
      return true;
    }
    auto* slices = arena_.take<Slice>(linear.slices);
    if (table_ != nullptr) table_[op] = slices;
    for (uint32_t i = 0; i < linear.slices; ++i) {
      if (!make_slice(linear, i, slices == nullptr ? nullptr : slices + i)) return false;
    }
    return true;
  }

  bool make_slice(const mote_linear& linear, uint32_t index, Slice* slice) {
    const uint32_t panels = (linear.outputs + kPanelRows - 1) / kPanelRows;
    const auto bound = [&](uint32_t i) {
      const uint64_t first = uint64_t{panels} * i / linear.slices * kPanelRows;
      return static_cast<uint32_t>(first < linear.outputs ? first : linear.outputs);
    };
    const uint32_t begin = bound(index), outputs = bound(index + 1) - begin;
    const float* weight = linear.weight + uint64_t{begin} * linear.inputs;
    const uint64_t bytes = align_up(uint64_t{outputs} * linear.inputs * sizeof(float), kAlignment);
    if (slice != nullptr) weight = unpack(weight, outputs, linear.inputs, bytes_ - bytes);
    placement_.begin_operator();
    xnn_operator_t op = nullptr;
    const xnn_status status =
        xnn_create_fully_connected_nc_f32(linear.inputs, outputs, linear.in_stride, linear.out_stride, weight,
                                          linear.bias == nullptr ? nullptr : linear.bias + begin, -INFINITY,
                                          INFINITY, XNN_FLAG_TRANSPOSE_WEIGHTS, &op);
    if (arena_.used() + bytes > most_) most_ = arena_.used() + bytes;
    if (slice == nullptr) return placement_.requests() >= 2;  // for the struct and for the weights
    slice->op = op;
    return status == xnn_status_success && pthread_mutex_init(&slice->mutex, nullptr) == 0;
  }

  /// Panels [K][16] to one matrix [K][outputs], at `offset` of the region.
  const float* unpack(const float* panels, uint32_t outputs, uint32_t inputs, uint64_t offset) {
    auto* matrix = reinterpret_cast<float*>(region_ + offset);
    for (uint32_t begin = 0; begin < outputs; begin += kPanelRows) {
      const uint32_t width = outputs - begin < kPanelRows ? outputs - begin : kPanelRows;
      const float* panel = panels + uint64_t{begin} * inputs;
      for (uint64_t k = 0; k < inputs; ++k) {
        memcpy(matrix + k * outputs + begin, panel + k * kPanelRows, width * sizeof(float));
      }
    }
    return matrix;
  }

  const mote_model* const model_;
  const uint32_t slices_;
  uint8_t* const region_;
  const uint64_t bytes_;
  Arena arena_;
  Placement placement_;
  uint32_t operations_ = 0;
  mote_backend* backend_ = nullptr;
  Slice** table_ = nullptr;  // [operations]
  uint64_t most_ = 0;        // bytes in use at once
};

mote_status count(const mote_model* model, uint32_t slices, uint64_t* bytes, mote_error* error) {
  if (model == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (slices == 0 || slices > MOTE_BACKEND_MOST_SLICES) {
    return fail(error, MOTE_INVALID_ARGUMENT, slices, " slices, 1 to ", uint32_t{MOTE_BACKEND_MOST_SLICES},
                " may be");
  }
  mote_status status = initialize(error);
  if (status != MOTE_OK) return status;
  Maker counting(model, slices, nullptr, UINT64_MAX);
  status = counting.make(error);
  *bytes = counting.most_bytes();
  if (status == MOTE_OK && *bytes > SIZE_MAX) {
    return fail(error, MOTE_TOO_SMALL, "the operators take ", *bytes,
                " bytes, more than there are addresses");
  }
  return status;
}

}  // namespace
}  // namespace mote::xnnpack

using mote::fail;

extern "C" {

mote_status mote_xnnpack_initialize(mote_error* error) { return mote::xnnpack::initialize(error); }

size_t mote_xnnpack_bytes(const mote_model* model, uint32_t slices, mote_error* error) {
  uint64_t bytes = 0;
  return mote::xnnpack::count(model, slices, &bytes, error) == MOTE_OK ? static_cast<size_t>(bytes) : 0;
}

mote_status mote_xnnpack_create(const mote_model* model, uint32_t slices, void* region, size_t bytes,
                                const mote_backend** backend, mote_error* error) {
  if (region == nullptr || backend == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(region) % MOTE_ALIGNMENT != 0) {
    return fail(error, MOTE_NOT_ALIGNED, "the region must be 64-byte aligned");
  }
  uint64_t needed = 0;
  mote_status status = mote::xnnpack::count(model, slices, &needed, error);
  if (status != MOTE_OK) return status;
  if (bytes < needed) {
    return fail(error, MOTE_TOO_SMALL, "the region has ", uint64_t{bytes}, " bytes, the operators take ",
                needed);
  }
  mote::xnnpack::Maker maker(model, slices, region, needed);
  status = maker.make(error);
  if (status == MOTE_OK) *backend = maker.backend();
  return status;
}

}  // extern "C"
