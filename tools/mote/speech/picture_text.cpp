// SPDX-License-Identifier: Apache-2.0
#include "converter/error.h"
#include "mote/pictures.h"
#include "pictures/pixel_values.h"
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
  mote_session_options own = options;
  own.batch = own.logit_rows = 1;
  own.chunk = picture.rows;
  Session session(file, own);
  mote_batch batch{};
  batch.lengths = &picture.rows;
  batch.count = 1;
  batch.values = rows.data();
  encode(session, batch, path);
  return decode_source(file, session, own.context - 1);
}

}  // namespace mote::cli
