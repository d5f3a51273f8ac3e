// SPDX-License-Identifier: Apache-2.0
//
// The results that calls of mote/host.h return, and the one place where exceptions end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/tasks/status.h"
#include "mote/host.h"

struct mote_host_result {
  mote_status status = MOTE_OK;
  mote_remedy remedy = MOTE_REMEDY_NONE;
  std::string sentence;
  std::string json = "null";
  std::vector<float> values;
  uint64_t shape[4] = {};
  std::vector<int32_t> ids;
  std::vector<std::byte> bytes;
};

namespace mote::api {

/// The contents of a result, which a call fills.
struct Reply {
  nlohmann::json json;
  std::vector<float> values;
  std::vector<uint64_t> shape;  // of the values, at most four sides
  std::vector<int32_t> ids;
  std::vector<std::byte> bytes;
};

/// Is thrown where a caller has ended a call.
struct Stopped {};

/// A failure of a task that is thrown.
class Failure : public std::exception {
 public:
  explicit Failure(host::Status status) : status_(std::move(status)) {}
  const char* what() const noexcept override { return status_.text().c_str(); }
  const host::Status& status() const { return status_; }

 private:
  host::Status status_;
};

/// Turns what was thrown into a status. Is called in a handler.
host::Status status_of_exception() noexcept;

/// Makes a result of a reply, or of why there is none.
mote_host_result* make_result(const host::Status& status, Reply& reply) noexcept;

/// Runs body(reply), which returns a Status or throws.
template <class Body>
mote_host_result* respond(Body body) noexcept {
  Reply reply;
  host::Status status;
  try {
    status = body(reply);
  } catch (...) {
    status = status_of_exception();
  }
  return make_result(status, reply);
}

}  // namespace mote::api
