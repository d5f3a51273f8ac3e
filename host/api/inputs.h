// SPDX-License-Identifier: Apache-2.0
//
// Reads the inputs that callers of mote/host.h give.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/base/mapped_file.h"
#include "host/media/pixel_values.h"
#include "host/tasks/hooks.h"
#include "mote/host.h"
#include "mote/pictures.h"

namespace mote::api {

using Inputs = std::span<const mote_host_input>;

/// Throws OptionError for a null array with a count, and for a count outside the bounds.
Inputs inputs_of(const mote_host_input* inputs, size_t count, size_t least, size_t most = SIZE_MAX);

bool is_text(const mote_host_input& input);
/// Throws OptionError for an input that is no text.
std::string text_of(const mote_host_input& input);
std::vector<std::string> texts_of(Inputs inputs);
bool is_ids(const mote_host_input& input);
/// Throws OptionError for an input that is no ids.
std::vector<int32_t> ids_of(const mote_host_input& input);

/// A picture of an input: a file, its bytes or pixels.
class Picture {
 public:
  /// Throws OptionError for an input that is none, convert::Error for a file that cannot be opened.
  explicit Picture(const mote_host_input& input);
  /// Returns the picture's rows; reading them throws Stopped once the hooks say so.
  pictures::RowSource rows(const host::Hooks& hooks) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::optional<convert::MappedFile> file_;
  pictures::RowSource rows_;
};

/// Returns how messages call an input: its path, or "picture".
std::string name_of(const mote_host_input& input, const char* otherwise);

}  // namespace mote::api
