// SPDX-License-Identifier: Apache-2.0
//
// Matmuls of integers give the same bits on every architecture: hashes of weights, inputs and outputs are
// stored here.
#include "runtime/file/xxh64.h"
#include "tests/support/linear_case.h"

namespace mote::testing {
namespace {

/// Rows, outputs and columns leave tails in every tile, and columns end within a group.
constexpr LinearCase kCase{19, 83, 331, true, Activation::relu, true};

uint64_t hash_of(const GuardedRows& rows) {
  std::vector<float> values;
  for (uint32_t t = 0; t < kCase.rows; ++t) values.insert(values.end(), rows[t], rows[t] + kCase.outputs);
  return xxh64(values.data(), values.size() * sizeof(float));
}

uint64_t hash_of_inputs(const LinearOperands& operands) {
  const uint64_t weights =
      xxh64(operands.weight.data(), packed_bytes(operands.weight.dtype(), kCase.outputs, kCase.inputs));
  const uint64_t rows = xxh64(operands.quantized.data(), kCase.rows * operands.quantized.stride_bytes());
  return weights ^ (rows * 3) ^ (hash_of(operands.residual) * 5);
}

const struct {
  DType weights;
  uint64_t inputs, outputs;
} kStored[] = {{DType::q8g32, 0x073ae9838bceccd0, 0xf4a75c70e32796cd},
               {DType::q4g32, 0x83fc3477a9247a04, 0x08cffe779af58e4a},
               {DType::q4mg32, 0x8cf3efe25071dfc5, 0x53a966a9a6539ffb},
               {DType::q8c, 0x5f929f6e4e601983, 0xf6ba5024804fca20}};

}  // namespace

TEST("matmuls of integers give the stored bits in every family of every architecture", "[linear][stored]") {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (const auto& stored : kStored) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const KernelEntry& entry = kernels[i];
      if (entry.op != Op::kLinear || entry.a == DType::f32 || entry.b != stored.weights) continue;
      if (!isa_available(entry.isa)) continue;
      INFO("kernel " << isa_name(entry.isa) << "::" << entry.name);
      const LinearOperands operands(entry, kCase);
      TEST_ASSERT_EQUAL_UINT64(stored.inputs, hash_of_inputs(operands));
      GuardedRows out(kCase.rows, kCase.outputs, kCase.edge);
      operands.run(entry, out);
      TEST_ASSERT_EQUAL_UINT64(stored.outputs, hash_of(out));
      ++found;
    }
    TEST_ASSERT_GREATER_THAN(0u, found);
  }
}

}  // namespace mote::testing
