// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/model_bytes.h"

#include <filesystem>

#include "host/base/error.h"
#include "schema/mote_generated.h"

namespace mote::cli {
namespace {

const std::string& refuse_model_directory(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return path;
  convert::fail("{} is a directory, not a .mote file; mote convert {} -o model.mote makes one", path, path);
}

/// Says whether a token reads a part of the weights only.
bool has_experts(const file::Model& model) {
  for (const file::Program* program : *model.programs()) {
    for (const file::Op* op : *program->ops()) {
      if (op->args_type() == file::OpArgs::Experts) return true;
    }
  }
  return false;
}

}  // namespace

ModelBytes::ModelBytes(const std::string& path, bool huge_pages) : file_(refuse_model_directory(path)) {
  if (!huge_pages) return;
  copy_.emplace(file_->bytes());
  file_.reset();
}

void ModelBytes::read_ahead() const {
  if (file_ && !has_experts(*file::GetSizePrefixedModel(bytes().data()))) file_->read_by_huge_pages();
}

size_t ModelBytes::tensors() const { return file::GetSizePrefixedModel(bytes().data())->tensors()->size(); }

}  // namespace mote::cli
