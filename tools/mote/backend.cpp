// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/backend.h"

#include "host/base/error.h"
#include "host/base/system.h"
#include "mote/mote.h"
#include "tools/mote/core_status.h"
#include "tools/mote/output.h"

#ifdef MOTE_HAS_XNNPACK
#include "mote/xnnpack.h"
#endif

namespace mote::cli {

Backend::~Backend() {
  if (region_ != nullptr) convert::unmap_memory(region_, bytes_);
}

#ifdef MOTE_HAS_XNNPACK

namespace {

bool has_work(const mote_model* model) {
  mote_linear linear;
  for (uint32_t op = 0; op < mote_model_operations(model); ++op) {
    if (mote_model_linear(model, op, 1, &linear) != 0) return true;
  }
  return false;
}

}  // namespace

Backend::Backend(const mote_model* model, const std::string& name, uint32_t threads) {
  const std::string what = "--backend " + name;
  if (!has_work(model)) {
    note("{} has nothing to do: it takes matrices of f32, and this model has none", what);
    return;
  }
  mote_error error = {};
  const size_t bytes = mote_xnnpack_bytes(model, threads, &error);
  if (bytes == 0) check(error.code, error, what);
  void* region = convert::map_memory(bytes);
  if (region == nullptr) {
    convert::fail("not enough memory: {} keeps a copy of the matrices, {}", what, human_bytes(bytes));
  }
  const mote_status status = mote_xnnpack_create(model, threads, region, bytes, &backend_, &error);
  if (status != MOTE_OK) convert::unmap_memory(region, bytes);
  check(status, error, what);
  region_ = region;
  bytes_ = bytes;
}

#else

Backend::Backend(const mote_model*, const std::string& name, uint32_t) {
  convert::fail(
      "--backend {}: this mote was built without it; install XNNPACK's headers (libxnnpack-dev of Debian "
      "12), "
      "then configure and build mote again",
      name);
}

#endif

}  // namespace mote::cli
