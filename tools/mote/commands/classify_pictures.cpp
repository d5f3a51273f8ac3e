// SPDX-License-Identifier: Apache-2.0
//
// mote classify of pictures: a classifier's labels, or texts that a model of pictures and texts compares them
// with.
#include "tools/mote/commands/classify_files.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "host/base/error.h"
#include "mote/pictures.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/text_encoder.h"

namespace mote::cli {
namespace {

/// The vectors of texts, of the other tower.
class TextVectors {
 public:
  TextVectors(const std::string& model, const std::vector<std::string>& texts, const SessionFlags& flags,
              const ThreadPool& pool)
      : file_(model, flags), texts_(texts) {
    TextEncoder encoder(file_, flags, pool, false);
    if (encoder.output().kind != MOTE_OUTPUT_EMBEDDING)
      convert::fail("{} gives no vectors of texts", file_.path());
    std::vector<EncodedText> encoded;
    for (const std::string& text : texts_) encoded.push_back(encoder.tokenize(text));
    encoder.encode(encoded, [&](size_t, uint32_t row) { vectors_.push_back(encoder.row(row)); });
  }

  /// Of a picture's vector: CLIP's are probabilities among the texts, SigLIP's of each text by itself.
  std::vector<float> probabilities(const std::vector<float>& picture, const mote_picture_info& info) const {
    std::vector<float> values;
    for (const std::vector<float>& text : vectors_) {
      if (text.size() != picture.size())
        convert::fail("{} gives vectors of {} numbers, the pictures' have {}: both must be of one model",
                      file_.path(), text.size(), picture.size());
      const float cosine = std::inner_product(text.begin(), text.end(), picture.begin(), 0.0f);
      values.push_back(info.similarity_scale * cosine + info.similarity_bias);
    }
    const bool alone = info.similarity_bias != 0.0f;
    const float most = *std::max_element(values.begin(), values.end());
    float sum = 0;
    for (float& value : values)
      sum += value = alone ? 1.0f / (1.0f + std::exp(-value)) : std::exp(value - most);
    for (float& value : values) value /= alone ? 1.0f : sum;
    return values;
  }

 private:
  ModelFile file_;
  std::vector<std::string> texts_;
  std::vector<std::vector<float>> vectors_;
};

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
  if (encoder.output().kind == MOTE_OUTPUT_DEPTH) convert::fail("{} measures depth: mote depth", file.path());
  if (encoder.output().kind == MOTE_OUTPUT_BOXES)
    convert::fail("{} finds things in pictures: mote detect", file.path());
  if (text_model.empty() || encoder.picture().similarity_scale == 0.0f)
    convert::fail("{} has no head that labels anything{}", file.path(),
                  encoder.picture().similarity_scale == 0.0f ? "; mote embed makes vectors"
                                                             : "; --text-model compares pictures with texts");
  const TextVectors vectors(text_model, texts, flags, pool);
  for (const std::string& path : wanted.paths) {
    encoder.encode(path);
    show_labels("picture", path, vectors.probabilities(encoder.row(), encoder.picture()), wanted,
                [&](uint32_t i) { return texts[i]; });
  }
}

}  // namespace mote::cli
