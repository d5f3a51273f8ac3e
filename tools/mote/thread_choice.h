// SPDX-License-Identifier: Apache-2.0
//
// How many threads run a model, and the file in the user's cache that keeps what mote bench --tune measured:
// threads.json in the folder mote of XDG_CACHE_HOME, or else of ~/.cache.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mote/mote.h"

namespace mote::cli {

struct SessionFlags;

struct ThreadCounts {
  uint32_t threads;
  uint32_t decode_threads;  // at most `threads`

  /// Returns "4 threads", and those that decode where they are fewer.
  std::string text() const;
};

/// Those asked for; else those kept for the model; else one for each big core. Threads that are asked for
/// decode too. Throws UsageError for more threads to decode than threads.
ThreadCounts choose_threads(const mote_model_info& model, const SessionFlags& flags);

/// Returns the numbers of threads that mote bench --tune found for this model on this machine. A file that
/// cannot be read, or is from a machine with other cores or kernels, counts as none, and a note says so.
std::optional<ThreadCounts> kept_threads(const mote_model_info& model);

/// Returns the path of the file. Throws convert::Error if it cannot be written.
std::filesystem::path keep_threads(const mote_model_info& model, const ThreadCounts& counts);

}  // namespace mote::cli
