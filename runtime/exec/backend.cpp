// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/backend.h"

#include "schema/f16.h"

namespace mote {
namespace {

// Rows of a slice lie in scratch between the backend and the activation: few enough to stay in L2, enough for
// the backend to use its registers well.
constexpr uint64_t kBlockFloats = 1u << 16;
constexpr uint64_t kBlockRows = 64;

uint32_t panel_count(uint32_t outputs) { return (outputs + kPanelRows - 1) / kPanelRows; }

/// mote's own kernel takes a row at a time.
uint64_t kernel_scratch_bytes(const KernelEntry& kernel, uint64_t inputs) {
  ScratchShape shape{};
  shape.rows = 1;
  shape.inputs = inputs;
  return kernel.scratch_bytes(shape);
}

uint32_t slice_begin(uint32_t panels, uint32_t slice, uint32_t slices) {
  return static_cast<uint32_t>(uint64_t{panels} * slice / slices);
}

/// The backend's sums are the outputs themselves. Tells by the residual's stride because, where operations
/// are only proved, all pointers are null.
bool writes_outputs(const LinearArgs& args) {
  return args.activation == Activation::none && args.residual.stride_bytes == 0;
}

/// Floats from a row of scratch to the next: the widest slice's.
uint64_t block_stride(uint32_t panels, uint32_t slices) {
  return uint64_t{(panels + slices - 1) / slices} * kPanelRows;
}

uint32_t block_rows(uint64_t stride) {
  const uint64_t rows = kBlockFloats / stride;
  return static_cast<uint32_t>(rows == 0 ? 1 : rows < kBlockRows ? rows : kBlockRows);
}

/// The operation cut down to some of its panels.
LinearArgs slice_of(const LinearArgs& args, uint32_t begin, uint32_t end) {
  const size_t first = size_t{begin} * kPanelRows;
  LinearArgs slice = args;
  slice.weight = static_cast<const float*>(args.weight) + first * args.inputs;
  if (args.bias != nullptr) slice.bias += first;
  slice.out.data += first;
  if (args.residual.data != nullptr) slice.residual.data += first;
  const uint32_t outputs = (end - begin) * kPanelRows;
  const uint32_t left = args.outputs - begin * kPanelRows;
  slice.outputs = outputs < left ? outputs : left;
  return slice;
}

LinearArgs row_of(const LinearArgs& args, uint32_t row) {
  LinearArgs one = args;
  one.rows = 1;
  one.in = static_cast<const char*>(args.in) + row * args.in_stride_bytes;
  one.out.data = args.out[row];
  if (args.residual.data != nullptr) one.residual.data = args.residual[row];
  return one;
}

bool all_finite(const float* values, uint32_t count) {
  constexpr uint32_t kExponent = 0x7F800000;
  uint32_t others = 0;
  for (uint32_t i = 0; i < count; ++i) others += (bits_from_f32(values[i]) & kExponent) == kExponent;
  return others == 0;
}

/// A slice being run, and mote's kernel for it.
struct Slice {
  const mote_backend* backend;
  uint32_t op, index;
  Kernel<LinearArgs> kernel;
  LinearArgs args;
  void* scratch;  // the kernel's

  /// Rows `begin` to `begin` + `count` - 1 by way of `sums`, which are the outputs if `stride` is 0.
  void run(uint32_t begin, uint32_t count, float* sums, uint64_t stride) const {
    const Range panels{0, panel_count(args.outputs)};
    const LinearArgs first = row_of(args, begin);
    const bool done =
        backend->run_linear(backend->user, op, index, static_cast<const float*>(first.in), count, sums) != 0;
    for (uint32_t t = 0; t < count; ++t) {
      LinearArgs row = row_of(args, begin + t);
      const float* sum = stride == 0 ? row.out.data : sums + t * stride;
      if (done && all_finite(sum, args.outputs)) {
        if (stride == 0) continue;
        row.inputs = 0;  // activation(sum) + residual: the sum takes the bias's place
        row.bias = sum;
      }
      kernel(row, panels, scratch);
    }
  }
};

}  // namespace

bool is_for_backend(const mote_model& model, uint32_t op) {
  const file::Linear* linear = model.program->ops()->Get(op)->args_as_Linear();
  if (linear == nullptr) return false;
  return model.root->tensors()->Get(static_cast<uint32_t>(linear->weight()))->dtype() == file::DType::f32;
}

uint64_t backend_scratch_bytes(const mote_model& model, uint32_t op, uint32_t slices,
                               const KernelEntry& kernel) {
  mote_linear linear;
  if (mote_model_linear(&model, op, slices, &linear) == 0) return 0;
  const uint64_t stride = block_stride(panel_count(linear.outputs), linear.slices);
  return kernel_scratch_bytes(kernel, linear.inputs) + stride * block_rows(stride) * sizeof(float);
}

void run_on_backend(const mote_backend& backend, uint32_t op, const Step& step, Range range,
                    uint8_t* scratch) {
  const LinearArgs& args = step.linear;
  const uint32_t panels = panel_count(args.outputs);
  const uint32_t slices = backend.slices < panels ? backend.slices : panels;
  const bool direct = writes_outputs(args);
  const uint64_t stride = direct ? 0 : block_stride(panels, slices);
  const uint32_t most = direct ? args.rows : block_rows(stride);
  auto* block = reinterpret_cast<float*>(scratch + kernel_scratch_bytes(*step.kernel, args.inputs));
  for (uint32_t i = 0; i < slices; ++i) {
    const uint32_t begin = slice_begin(panels, i, slices);
    if (begin < range.begin || begin >= range.end) continue;
    const LinearArgs of_slice = slice_of(args, begin, slice_begin(panels, i + 1, slices));
    const Slice slice{&backend, op, i, kernel_cast<LinearArgs>(step.kernel), of_slice, scratch};
    for (uint32_t row = 0; row < args.rows; row += most) {
      const uint32_t count = args.rows - row < most ? args.rows - row : most;
      slice.run(row, count, direct ? of_slice.out[row] : block, stride);
    }
  }
}

}  // namespace mote

extern "C" {

uint32_t mote_model_operations(const mote_model* model) { return model->program->ops()->size(); }

int mote_model_linear(const mote_model* model, uint32_t op, uint32_t slices, mote_linear* linear) {
  if (slices == 0 || op >= mote_model_operations(model) || !mote::is_for_backend(*model, op)) return 0;
  mote::Places nowhere{};
  nowhere.program = model->program;
  nowhere.proving = true;
  mote::Step step;
  if (mote::bind(*model, nowhere, op, &step, nullptr) != MOTE_OK) return 0;
  const mote::LinearArgs& args = step.linear;
  const uint32_t panels = mote::panel_count(args.outputs);
  *linear = {};
  linear->outputs = args.outputs;
  linear->inputs = args.inputs;
  linear->slices = slices < panels ? slices : panels;
  linear->in_stride = args.in_stride_bytes / sizeof(float);
  linear->out_stride = mote::writes_outputs(args)
                           ? args.out.stride_bytes / sizeof(float)
                           : static_cast<size_t>(mote::block_stride(panels, linear->slices));
  linear->weight = static_cast<const float*>(args.weight);
  linear->bias = args.bias;
  return 1;
}

}  // extern "C"
