// SPDX-License-Identifier: Apache-2.0
//
// An XNNPACK backend in a region of exactly the bytes it says it takes.
#pragma once

#include "mote/xnnpack.h"
#include "tests/support/test_model.h"

namespace test {

class XnnpackRegion {
 public:
  XnnpackRegion(const OpenModel& model, uint32_t slices)
      : region_(mote_xnnpack_bytes(model.get(), slices, nullptr)) {
    mote_error error{};
    const mote_status status =
        mote_xnnpack_create(model.get(), slices, region_.data(), region_.size(), &backend_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  const mote_backend* get() const { return backend_; }
  size_t bytes() const { return region_.size(); }

 private:
  AlignedBytes region_;
  const mote_backend* backend_ = nullptr;
};

}  // namespace test
