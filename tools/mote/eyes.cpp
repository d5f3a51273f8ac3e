// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/eyes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/base/error.h"
#include "host/media/pixel_values.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/signals.h"
#include "tools/mote/steps.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

size_t rows_of(const SeenPicture::Part& part) { return size_t{part.rows} * part.columns; }

/// `pattern` with the tile's numbers in place of {row} and {column}.
std::string of_tile(std::string pattern, uint32_t row, uint32_t column) {
  for (const auto& [name, number] : {std::pair("{row}", row), std::pair("{column}", column)}) {
    const size_t at = pattern.find(name);
    if (at != std::string::npos) pattern.replace(at, std::string_view(name).size(), std::to_string(number));
  }
  return pattern;
}

/// Those of the user that mean any session.
SessionFlags flags_of_eyes(const SessionFlags& flags) {
  SessionFlags own;
  own.threads = flags.threads;
  own.backend = flags.backend;
  own.huge_pages = flags.huge_pages;
  return own;
}

}  // namespace

Eyes::Eyes(const std::string& path, const SessionFlags& flags)
    : flags_(flags_of_eyes(flags)), file_(path, flags_), pool_(file_, flags_) {
  mote_model_get_output(file_.model(), &output_);
  if (!takes_pictures(file_) || output_.kind != MOTE_OUTPUT_HIDDEN) {
    convert::fail(
        "{} makes no vectors of pictures for texts: convert the model's directory with --tower vision for "
        "it",
        path);
  }
}

SeenPicture Eyes::see(const std::string& path) const {
  mote_picture_info info;
  mote_error error{};
  check(mote_model_get_picture(file_.model(), &info, &error), error, file_.path());
  const convert::MappedFile file(path);
  const pictures::PictureParts parts = pictures::picture_parts(file.bytes(), path, info);
  check(mote_picture_of_size(file_.model(), parts.height, parts.width, &info, &error), error, path);
  const uint32_t side = info.patch * info.merge;
  SeenPicture seen{parts.lines, parts.columns, {}};
  mote_session_options options = session_options(file_, flags_, pool_);
  options.context = options.chunk = options.logit_rows = info.rows;
  Session session(file_, options);
  std::vector<float> rows(size_t{info.rows} * info.row_width);
  for (const std::vector<float>& pixels : parts.values) {
    mote_picture_rows(&info, pixels.data(), rows.data());
    mote_batch batch{};
    batch.values = rows.data();
    batch.lengths = &info.rows;
    batch.count = 1;
    encode(session, batch, path);
    SeenPicture::Part part{info.height / side, info.width / side, {}};
    for (uint32_t row = 0; const float* values = mote_session_output(session.get(), row); ++row)
      part.features.insert(part.features.end(), values, values + output_.width);
    seen.parts.push_back(std::move(part));
  }
  return seen;
}

Sight::Sight(const ModelFile& file, const Eyes& eyes) : file_(file) {
  mote_error error{};
  check(mote_model_get_sight(file.model(), &info_, &error), error, file.path());
  if (info_.features != eyes.features()) {
    convert::fail("{} takes pictures' vectors of {} numbers, given {}: both files must be of one model",
                  file.path(), info_.features, eyes.features());
  }
  mote_program_info program;
  mote_model_get_program(file.model(), 0, &program);
  width_ = program.input_width;
  size_t bytes = 0;
  const char* token = mote_token_text(file.model(), info_.image_id, &bytes);
  if (token == nullptr) convert::fail("{} has no token for pictures in its tokenizer", file.path());
  token_.assign(token, bytes);
}

std::string Sight::text_of(const SeenPicture& picture) const {
  const SeenPicture::Part& whole = picture.parts.back();
  if (picture.lines == 0) return info_.before + repeated(token_, rows_of(whole)) + info_.after;
  if (info_.tile_before == nullptr) convert::fail("{} takes no tiles of pictures", file_.path());
  std::string text;
  for (uint32_t line = 0; line < picture.lines; ++line) {
    for (uint32_t column = 0; column < picture.columns; ++column) {
      text += of_tile(info_.tile_before, line + 1, column + 1);
      text += repeated(token_, rows_of(picture.parts[line * picture.columns + column]));
    }
    text += info_.line_after;
  }
  return text + info_.line_after + info_.whole_before + repeated(token_, rows_of(whole)) + info_.after;
}

std::vector<int32_t> Sight::expand(const Session& session, const std::vector<int32_t>& ids,
                                   const std::vector<const SeenPicture*>& pictures) const {
  const auto tokens = [&](const std::string& text) {
    return tokenize(file_, session, text, MOTE_PARSE_SPECIAL);
  };
  const std::vector<int32_t> mark = tokens(info_.before + token_ + info_.after);
  if (std::count(mark.begin(), mark.end(), info_.image_id) != 1)
    convert::fail("{}: its tokenizer does not know the tokens around a picture", file_.path());
  std::vector<int32_t> all;
  auto from = ids.begin();
  for (const SeenPicture* picture : pictures) {
    const auto found = std::search(from, ids.end(), mark.begin(), mark.end());
    if (found == ids.end()) convert::fail("the prompt has no place for each of {} pictures", pictures.size());
    all.insert(all.end(), from, found);
    const std::vector<int32_t> own = tokens(text_of(*picture));
    all.insert(all.end(), own.begin(), own.end());
    from = found + static_cast<std::ptrdiff_t>(mark.size());
  }
  all.insert(all.end(), from, ids.end());
  return all;
}

void Sight::prefill(Session& session, uint32_t chunk, const std::vector<int32_t>& ids,
                    const std::vector<const SeenPicture*>& pictures) const {
  std::vector<mote_seen> seen;
  for (const SeenPicture* picture : pictures) {
    for (const SeenPicture::Part& part : picture->parts)
      seen.push_back({part.features.data(), part.rows, part.columns});
  }
  const auto n = static_cast<uint32_t>(ids.size());
  std::vector<float> values(size_t{n} * width_);
  mote_error error{};
  check(mote_sight_values(file_.model(), ids.data(), n, seen.data(), static_cast<uint32_t>(seen.size()),
                          values.data(), &error),
        error, "pictures");
  for (uint32_t done = 0; done < n;) {
    if (InterruptGuard::interrupted()) throw Interrupted();
    std::vector<mote_row> rows;
    for (; done + rows.size() < n && rows.size() < chunk;) {
      const auto at = done + static_cast<uint32_t>(rows.size());
      rows.push_back({0, ids[at], 0, at + 1 == n ? 1u : 0u});
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.values = values.data() + size_t{done} * width_;
    check(mote_compute(session.get(), &call, &error), error, "pictures");
    done += call.count;
  }
}

bool Sight::has_pictures(const std::vector<int32_t>& ids) const {
  return std::find(ids.begin(), ids.end(), info_.image_id) != ids.end();
}

}  // namespace mote::cli
