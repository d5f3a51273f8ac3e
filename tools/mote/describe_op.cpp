// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/describe_op.h"

#include <fmt/format.h>

#include "runtime/ops/visit_op.h"

namespace mote::cli {
namespace {

std::string words(const char* piece) { return piece; }
std::string words(uint32_t piece) { return std::to_string(piece); }
std::string words(float piece) { return fmt::format("{:g}", piece); }

std::string words(const file::Slice& slice) {
  return fmt::format("b{}[{}:{}]", slice.buffer(), slice.column(), slice.column() + slice.width());
}

class Describer : public OpVisitor {
 public:
  Describer(const file::Model& model, const file::Program& program, const char* name)
      : OpVisitor(model, program), text{name, "", "", ""} {}

  template <class... Pieces>
  void detail(const Pieces&... pieces) {
    append(text.details, ", ", (words(pieces) + ...));
  }
  template <class... Pieces>
  void from(const Pieces&... pieces) {
    append(text.in, " ", (words(pieces) + ...));
  }
  template <class... Pieces>
  void to(const Pieces&... pieces) {
    append(text.out, " ", (words(pieces) + ...));
  }
  void reads(const file::Slice* slice) { from(*slice); }
  void writes(const file::Slice* slice) { to(*slice); }
  void updates(const file::Slice* slice) {
    from(*slice);
    to(*slice);
  }
  void adds(const file::Slice* slice) {
    if (slice != nullptr) detail("+ ", *slice);
  }
  void table(int32_t index) { tensor(index); }
  void tensor(int32_t index) {
    const file::Tensor* found = tensor_at(index);
    if (found == nullptr) return;
    append(text.details, ", ",
           fmt::format("{} ({} {} x {})", found->name()->str(), type(index), found->rows(), found->cols()));
  }

  OpText text;

 private:
  static void append(std::string& all, const char* separator, const std::string& part) {
    if (!part.empty()) all += (all.empty() ? "" : separator) + part;
  }
};

}  // namespace

OpText describe_op(const file::Model& model, const file::Program& program, const file::Op& op) {
  Describer describer(model, program, file::EnumNameOpArgs(op.args_type()));
  visit_op(op, describer);
  return describer.text;
}

}  // namespace mote::cli
