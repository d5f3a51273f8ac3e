// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/vision.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

size_t rows_of(const SeenPicture::Part& part) { return size_t{part.rows} * part.columns; }

/// Returns `pattern` with the tile's numbers in place of {row} and {column}.
std::string of_tile(std::string pattern, uint32_t row, uint32_t column) {
  for (const auto& [name, number] : {std::pair("{row}", row), std::pair("{column}", column)}) {
    const size_t at = pattern.find(name);
    if (at != std::string::npos) pattern.replace(at, std::string_view(name).size(), std::to_string(number));
  }
  return pattern;
}

Status get_picture(const Model& model, mote_picture_info& info) {
  mote_error error{};
  return from_core(mote_model_get_picture(model.get(), &info, &error), error, model.name());
}

}  // namespace

Status require_vision(const Model& tower) {
  if (tower.task() == MOTE_TASK_SEE) return {};
  return failed(Remedy::vision_tower, "{} makes no vectors of pictures for texts", tower.name());
}

Result<SeenPicture> see_picture(const Model& tower, const SessionChoices& choices,
                                const pictures::PictureParts& parts, const Hooks& hooks,
                                std::string_view name) {
  mote_picture_info info;
  MOTE_TRY(get_picture(tower, info));
  mote_error error{};
  MOTE_TRY(
      from_core(mote_picture_of_size(tower.get(), parts.height, parts.width, &info, &error), error, name));
  SessionChoices own;
  own.platform = choices.platform;
  own.decode_threads = choices.decode_threads;
  own.backend = choices.backend;
  mote_session_options options = session_options(tower, own);
  options.context = options.chunk = options.logit_rows = info.rows;
  MOTE_TAKE(Session session, Session::begin(tower, options));
  const uint32_t side = info.patch * info.merge;
  SeenPicture seen{parts.lines, parts.columns, {}};
  std::vector<float> rows(size_t{info.rows} * info.row_width);
  for (const std::vector<float>& pixels : parts.values) {
    mote_picture_rows(&info, pixels.data(), rows.data());
    MOTE_TRY(encode_values(session, rows.data(), info.rows, hooks, name));
    SeenPicture::Part part{info.height / side, info.width / side, {}};
    for (uint32_t row = 0; const float* values = mote_session_output(session.get(), row); ++row)
      part.features.insert(part.features.end(), values, values + tower.output().width);
    seen.parts.push_back(std::move(part));
  }
  return seen;
}

Result<PicturePrompt> PicturePrompt::make(const Model& model, uint32_t features) {
  PicturePrompt prompt(model);
  mote_error error{};
  MOTE_TRY(from_core(mote_model_get_vision_input(model.get(), &prompt.info_, &error), error, model.name()));
  if (prompt.info_.features != features) {
    return failed("{} takes pictures' vectors of {} numbers, given {}: both files must be of one model",
                  model.name(), prompt.info_.features, features);
  }
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  prompt.width_ = program.input_width;
  prompt.token_ = model.token_text(prompt.info_.image_id);
  if (prompt.token_.empty()) return failed("{} has no token for pictures in its tokenizer", model.name());
  return prompt;
}

Result<std::string> PicturePrompt::text_of(const SeenPicture& picture) const {
  const SeenPicture::Part& whole = picture.parts.back();
  if (picture.lines == 0) return info_.before + repeated(token_, rows_of(whole)) + info_.after;
  if (info_.tile_before == nullptr) return failed("{} takes no tiles of pictures", model_->name());
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

Result<std::vector<int32_t>> PicturePrompt::expand(const Session& session, std::span<const int32_t> ids,
                                                   std::span<const SeenPicture* const> pictures) const {
  const auto tokens = [&](const std::string& text) {
    return tokenize(*model_, session, text, MOTE_PARSE_SPECIAL);
  };
  MOTE_TAKE(const std::vector<int32_t> mark, tokens(info_.before + token_ + info_.after));
  if (std::count(mark.begin(), mark.end(), info_.image_id) != 1)
    return failed("{}: its tokenizer does not know the tokens around a picture", model_->name());
  std::vector<int32_t> all;
  auto from = ids.begin();
  for (const SeenPicture* picture : pictures) {
    const auto found = std::search(from, ids.end(), mark.begin(), mark.end());
    if (found == ids.end()) return failed("the prompt has no place for each of {} pictures", pictures.size());
    all.insert(all.end(), from, found);
    MOTE_TAKE(const std::string text, text_of(*picture));
    MOTE_TAKE(const std::vector<int32_t> own, tokens(text));
    all.insert(all.end(), own.begin(), own.end());
    from = found + static_cast<std::ptrdiff_t>(mark.size());
  }
  all.insert(all.end(), from, ids.end());
  return all;
}

Status PicturePrompt::prefill(Session& session, uint32_t chunk, std::span<const int32_t> ids,
                              std::span<const SeenPicture* const> pictures, const Hooks& hooks) const {
  std::vector<mote_picture_vectors> seen;
  for (const SeenPicture* picture : pictures) {
    for (const SeenPicture::Part& part : picture->parts)
      seen.push_back({part.features.data(), part.rows, part.columns});
  }
  const auto n = static_cast<uint32_t>(ids.size());
  std::vector<float> values(size_t{n} * width_);
  mote_error error{};
  MOTE_TRY(from_core(mote_vision_input_values(model_->get(), ids.data(), n, seen.data(),
                                              static_cast<uint32_t>(seen.size()), values.data(), &error),
                     error, "pictures"));
  for (uint32_t done = 0; done < n;) {
    std::vector<mote_row> rows;
    for (; done + rows.size() < n && rows.size() < chunk;) {
      const auto at = done + static_cast<uint32_t>(rows.size());
      rows.push_back({0, ids[at], 0, at + 1 == n ? 1u : 0u});
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.values = values.data() + size_t{done} * width_;
    MOTE_TRY(compute(session, call, hooks, "pictures"));
    done += call.count;
  }
  return {};
}

bool PicturePrompt::has_pictures(std::span<const int32_t> ids) const {
  return std::find(ids.begin(), ids.end(), info_.image_id) != ids.end();
}

}  // namespace mote::host
