// SPDX-License-Identifier: Apache-2.0
#include "host/base/exception_status.h"

#include <exception>
#include <new>

#include "host/base/options.h"

namespace mote::api {

ExceptionStatus status_of_thrown() noexcept {
  try {
    try {
      throw;
    } catch (const OptionError& error) {
      return {MOTE_INVALID_ARGUMENT, error.what()};
    } catch (const std::bad_alloc&) {
      return {MOTE_OUT_OF_MEMORY, "not enough memory"};
    } catch (const std::exception& error) {
      return {MOTE_BAD_INPUT, error.what()};
    } catch (...) {
      return {MOTE_BAD_INPUT, "unknown failure"};
    }
  } catch (...) {
    return {MOTE_OUT_OF_MEMORY, ""};
  }
}

}  // namespace mote::api
