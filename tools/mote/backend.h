// SPDX-License-Identifier: Apache-2.0
//
// The backend that --backend names: another library's linear operations for one model, in memory of their
// own.
#pragma once

#include <cstddef>
#include <string>

#include "mote/backend.h"

namespace mote::cli {

class Backend {
 public:
  /// "xnnpack". Throws convert::Error where this build lacks it; notes where the model has nothing for it.
  /// The model must outlive it.
  Backend(const mote_model* model, const std::string& name, uint32_t threads);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  const mote_backend* get() const { return backend_; }
  size_t bytes() const { return bytes_; }

 private:
  void* region_ = nullptr;
  size_t bytes_ = 0;
  const mote_backend* backend_ = nullptr;  // null if there is nothing to do
};

}  // namespace mote::cli
