// SPDX-License-Identifier: Apache-2.0
//
// mote classify of pictures: a classifier's labels, or texts that a model of pictures and texts compares them
// with.
#include "tools/mote/commands/classify_files.h"

#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/tasks/picture_texts.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/signals.h"

namespace mote::cli {

namespace {

host::PictureTexts texts_of(const ModelFile& file, const std::vector<std::string>& texts,
                            const SessionFlags& flags, const ThreadPool& pool) {
  const InterruptGuard guard;
  return take(host::PictureTexts::make(file.host(), session_choices(file, flags, pool), texts, hooks()));
}

}  // namespace

void show_labels(const char* kind, const std::string& path, const std::vector<float>& probabilities,
                 const FileLabels& wanted, const std::function<std::string(uint32_t)>& label) {
  nlohmann::json labels = nlohmann::json::array();
  std::string line;
  for (const uint32_t i : wanted.largest(probabilities, wanted.top)) {
    labels.push_back({{"label", label(i)}, {"probability", probabilities[i]}});
    line += fmt::format("{}{} {:.4f}", line.empty() ? "" : ", ", one_line(label(i)), probabilities[i]);
  }
  if (wanted.json) return print_json({{kind, path}, {"labels", std::move(labels)}});
  print("{}: {}\n", line, one_line(path));
}

void show_labels(const char* kind, const std::string& path, const std::vector<float>& probabilities,
                 const FileLabels& wanted, const ModelFile& file) {
  show_labels(kind, path, probabilities, wanted,
              [&](uint32_t i) { return std::string(mote_model_label(file.model(), i)); });
}

void classify_pictures(const FileLabels& wanted, const std::string& text_model,
                       const std::vector<std::string>& texts, const ModelFile& file,
                       const SessionFlags& flags, const ThreadPool& pool) {
  PictureEncoder encoder(file, flags, pool);
  if (encoder.output().kind == MOTE_OUTPUT_SEQUENCE_LABELS) {
    if (!text_model.empty()) convert::fail("{} has labels of its own", file.path());
    for (const std::string& path : wanted.paths) {
      encoder.encode(path);
      show_labels("picture", path, encoder.probabilities(), wanted, file);
    }
    return;
  }
  check(host::require_similarity(file.host(), encoder.picture()));
  if (text_model.empty())
    convert::fail("{} has no head that labels anything; --text-model compares pictures with texts",
                  file.path());
  const ModelFile text_file(text_model, flags);
  const host::PictureTexts vectors = texts_of(text_file, texts, flags, pool);
  for (const std::string& path : wanted.paths) {
    encoder.encode(path);
    show_labels("picture", path, take(vectors.probabilities(encoder.row(), encoder.picture())), wanted,
                [&](uint32_t i) { return texts[i]; });
  }
}

}  // namespace mote::cli
