// SPDX-License-Identifier: Apache-2.0
//
// Pictures for a model that reads texts: what the model that sees makes of them, and their tokens in a
// prompt.
#pragma once

#include <string>
#include <vector>

#include "mote/pictures.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// The vectors of a picture, or of one that is cut into tiles and a whole.
struct SeenPicture {
  uint32_t lines = 0, columns = 0;  // of tiles
  struct Part {
    uint32_t rows, columns;
    std::vector<float> features;
  };
  std::vector<Part> parts;  // tiles from left to right and then down, the whole last
};

/// A file that makes vectors of pictures.
class Eyes {
 public:
  /// Throws convert::Error for a file that makes none.
  Eyes(const std::string& path, const SessionFlags& flags);

  SeenPicture see(const std::string& path) const;
  uint32_t features() const { return output_.width; }

 private:
  const SessionFlags flags_;
  ModelFile file_;
  ThreadPool pool_;
  mote_output_info output_{};
};

/// Prompts with pictures, of a model that takes them.
class Sight {
 public:
  /// Throws convert::Error for a model that takes none, or others than the file `eyes` makes.
  Sight(const ModelFile& file, const Eyes& eyes);

  /// The ids of a conversation, in which each picture has one token, with as many as the pictures have.
  std::vector<int32_t> expand(const Session& session, const std::vector<int32_t>& ids,
                              const std::vector<const SeenPicture*>& pictures) const;

  /// Computes a prompt that the session's sequence 0 begins with; its last logits are those of row 0 then.
  void prefill(Session& session, uint32_t chunk, const std::vector<int32_t>& ids,
               const std::vector<const SeenPicture*>& pictures) const;

  /// Whether any of the ids is a picture's.
  bool has_pictures(const std::vector<int32_t>& ids) const;

 private:
  std::string text_of(const SeenPicture& picture) const;

  const ModelFile& file_;
  mote_sight_info info_{};
  std::string token_;
  uint32_t width_;  // of a row of the program
};

}  // namespace mote::cli
