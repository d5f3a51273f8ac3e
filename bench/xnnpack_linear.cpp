// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK's fully connected operators on one thread, for mote_bench_linear. Each copy of a weight is an
// operator, which has packed the weights as it likes them; a call sets the operator up and runs it, as one
// with new activations must. qs8 has one scale for the whole weight, and its results are 8 bits wide as well.
#include <math.h>
#include <xnnpack.h>

#include <vector>

#include "bench/linear.h"

namespace {

void check(xnn_status status) {
  if (status != xnn_status_success) abort();
}

void create(Shape shape, const float* weight, xnn_operator_t* op) {
  check(xnn_create_fully_connected_nc_f32(shape.inputs, shape.outputs, shape.inputs, shape.outputs, weight,
                                          nullptr, -INFINITY, INFINITY, 0, op));
}

void create(Shape shape, const int8_t* weight, xnn_operator_t* op) {
  const auto out_scale = static_cast<float>(shape.inputs);
  check(xnn_create_fully_connected_nc_qs8(shape.inputs, shape.outputs, shape.inputs, shape.outputs, 0, 1.0f,
                                          1.0f / 64, weight, nullptr, 0, out_scale, INT8_MIN, INT8_MAX, 0,
                                          op));
}

void set_up(xnn_operator_t op, uint32_t rows, const float* in, float* out) {
  check(xnn_setup_fully_connected_nc_f32(op, rows, in, out, nullptr));
}

void set_up(xnn_operator_t op, uint32_t rows, const int8_t* in, int8_t* out) {
  check(xnn_setup_fully_connected_nc_qs8(op, rows, in, out, nullptr));
}

template <class T>
void run_xnnpack(benchmark::State& state, Shape shape, uint32_t rows, bool cold) {
  const uint64_t bytes = uint64_t{shape.outputs} * shape.inputs * sizeof(T);
  std::vector<xnn_operator_t> operators(cold ? cold_copies(bytes) : 1);
  {
    const Memory weight = filled(bytes);
    for (xnn_operator_t& op : operators) create(shape, reinterpret_cast<const T*>(weight.get()), &op);
  }
  const Memory in = filled(uint64_t{rows} * shape.inputs * sizeof(T) + XNN_EXTRA_BYTES);
  const Memory out = filled(uint64_t{rows} * shape.outputs * sizeof(T) + XNN_EXTRA_BYTES);
  size_t copy = 0;
  for (auto _ : state) {
    xnn_operator_t op = operators[copy];
    set_up(op, rows, reinterpret_cast<const T*>(in.get()), reinterpret_cast<T*>(out.get()));
    check(xnn_run_operator(op, nullptr));
    benchmark::ClobberMemory();
    copy = copy + 1 == operators.size() ? 0 : copy + 1;
  }
  for (xnn_operator_t op : operators) xnn_delete_operator(op);
  count_work(state, shape, rows, bytes);
}

}  // namespace

void register_xnnpack() {
  check(xnn_initialize(nullptr));
  register_shapes("xnnpack_f32", run_xnnpack<float>);
  register_shapes("xnnpack_qs8", run_xnnpack<int8_t>);
}
