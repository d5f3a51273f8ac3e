// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/base/error.h"
#include "host/media/pixel_values.h"
#include "mote/pictures.h"
#include "tools/mote/source_search.h"
#include "tools/mote/speech/source_text.h"
#include "tools/mote/steps.h"

namespace mote::cli {

std::string transcribe_picture(const ModelFile& file, const mote_session_options& options,
                               const std::string& path) {
  require_source_text(file);
  mote_picture_info picture;
  mote_error error{};
  check(mote_model_get_picture(file.model(), &picture, &error), error, file.path());
  const convert::MappedFile bytes(path);
  const std::vector<float> pixels = pictures::pixel_values(bytes.bytes(), path, picture);
  std::vector<float> rows(size_t{picture.rows} * picture.row_width);
  mote_picture_rows(&picture, pixels.data(), rows.data());
  const mote_beam_options search =
      bounded_search(file, options.context, mote_model_beam_options(file.model()));
  mote_session_options own = options;
  own.context = search.max_tokens;
  own.batch = own.logit_rows = search.beams;
  own.chunk = std::max(picture.rows, search.beams);
  Session session(file, own);
  mote_batch batch{};
  batch.lengths = &picture.rows;
  batch.count = 1;
  batch.values = rows.data();
  encode(session, batch, path);
  std::vector<uint64_t> memory;
  return text_of_source(file, search_encoded(file, session, search, memory).front().ids);
}

}  // namespace mote::cli
