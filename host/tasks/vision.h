// SPDX-License-Identifier: Apache-2.0
//
// Pictures for a model that reads texts: the vectors that a vision tower makes of them, and their tokens in a
// prompt.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/media/pixel_values.h"
#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"
#include "mote/pictures.h"

namespace mote::host {

/// The vectors of a picture, or of one that is cut into tiles and a whole.
struct SeenPicture {
  uint32_t lines = 0, columns = 0;  // of tiles
  struct Part {
    uint32_t rows, columns;
    std::vector<float> features;
  };
  std::vector<Part> parts;  // tiles from left to right and then down, the whole last
};

/// Fails for a model that makes no vectors of pictures for texts.
Status require_vision(const Model& tower);

/// Encodes the pixel values of a picture by a vision tower; `name` begins messages about the picture. The
/// threads and the backend of `choices` count, since the picture decides the rest.
Result<SeenPicture> see_picture(const Model& tower, const SessionChoices& choices,
                                const pictures::PictureParts& parts, const Hooks& hooks,
                                std::string_view name);

/// Prompts with pictures, of a model that takes them. The model must outlive it.
class PicturePrompt {
 public:
  /// Fails for a model that takes no pictures, or vectors of others than `features` numbers.
  static Result<PicturePrompt> make(const Model& model, uint32_t features);

  /// Returns the ids of a conversation, in which each picture has one token, with as many as the pictures
  /// have.
  Result<std::vector<int32_t>> expand(const Session& session, std::span<const int32_t> ids,
                                      std::span<const SeenPicture* const> pictures) const;

  /// Computes a prompt that the session's sequence 0 begins with, `chunk` rows at a time; the last token's
  /// logits are those of row 0 then.
  Status prefill(Session& session, uint32_t chunk, std::span<const int32_t> ids,
                 std::span<const SeenPicture* const> pictures, const Hooks& hooks) const;

  /// Says that one of the ids is a picture's.
  bool has_pictures(std::span<const int32_t> ids) const;

 private:
  explicit PicturePrompt(const Model& model) : model_(&model) {}
  Result<std::string> text_of(const SeenPicture& picture) const;

  const Model* model_;
  mote_vision_input_info info_{};
  std::string token_;
  uint32_t width_ = 0;  // of a row of the program
};

}  // namespace mote::host
