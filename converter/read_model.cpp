// SPDX-License-Identifier: Apache-2.0
#include "converter/read_model.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "converter/architectures/shared/architecture.h"
#include "converter/towers.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Says whether layers have names of matrices, and a matrix is there by such a name.
struct LayersFound {
  bool named = false, found = false;
};

LayersFound find_layers(const Source& source, const TransformerSpec& spec) {
  LayersFound layers;
  for (size_t layer = 0; layer < spec.layers.size(); ++layer) {
    const LayerNames& names = spec.layers[layer].names;
    for (const std::string* pattern : {&names.q, &names.qkv, &names.up, &names.gate_up, &names.down}) {
      if (pattern->empty()) continue;
      layers.named = true;
      std::string name = *pattern;
      const size_t mark = name.find("{}");
      if (mark != std::string::npos) name.replace(mark, 2, std::to_string(layer));
      layers.found = layers.found || source.tensors.count(name + ".weight") != 0;
    }
  }
  return layers;
}

/// Layers behind the model's own that predict further tokens, as the original leaves them out.
void leave_out_further_tokens(Source& source, TransformerSpec& spec) {
  constexpr const char* kStarts[] = {"mtp.", "model.mtp."};
  for (const char* start : kStarts) {
    const auto first = source.tensors.lower_bound(start);
    if (first == source.tensors.end() || !first->first.starts_with(start)) continue;
    spec.names.ignored_starts.emplace_back(start);
    source.notes.push_back(fmt::format("weights below {} are left out: they predict further tokens", start));
  }
}

class ModelReader {
 public:
  ModelReader(Source& source, std::string where, const std::vector<std::string>& ignored)
      : source_(source), where_(std::move(where)), ignored_(ignored) {}

  /// Reads all again, of the tensors as they are named now.
  void read() {
    config_.emplace(*source_.config, where_);
    config_->ignore(ignored_);
    if (source_.packed) config_->value("quantization_config");  // the reader has heeded it
    const Architecture& architecture = find_architecture(*config_);
    model_ = {architecture.name, architecture.read(source_, *config_)};
    read_decoder_head(source_, *config_, model_.spec);
  }
  LayersFound layers() const { return find_layers(source_, model_.spec); }
  ReadModel finish() {
    config_->finish();
    config_->check_keys();
    if (!config_->unread().empty())
      source_.notes.push_back(
          fmt::format("ignored, as the original does: {}", fmt::join(config_->unread(), ", ")));
    leave_out_further_tokens(source_, model_.spec);
    return std::move(model_);
  }

 private:
  Source& source_;
  std::string where_;
  const std::vector<std::string>& ignored_;
  std::optional<Config> config_;
  ReadModel model_{};
};

/// Says which layers were found; none where `problem` stood against reading at all.
std::optional<LayersFound> try_to_read(ModelReader& reader, std::optional<Error>& problem) {
  try {
    reader.read();
  } catch (const Error& error) {
    if (!problem) problem = error;
    return std::nullopt;
  }
  return reader.layers();
}

}  // namespace

ReadModel read_model(Source& source, const std::filesystem::path& path,
                     const std::vector<std::string>& ignored) {
  ModelReader reader(source, (source.config_path.empty() ? path : source.config_path).string(), ignored);
  std::optional<Error> problem, others;
  const std::optional<LayersFound> layers = try_to_read(reader, problem);
  const bool fits = layers && (layers->found || !layers->named);
  if (!fits && source.format == "hf" && !source.tensors.empty()) {
    const std::string prefix = unwrap_tensors(source, [&] {
      const std::optional<LayersFound> unwrapped = try_to_read(reader, others);
      return unwrapped && unwrapped->found;
    });
    if (prefix.empty()) {
      reader.read();  // for its Error, or that of the weights
    } else {
      source.notes.push_back(fmt::format("names of weights are read without {}", prefix));
    }
  } else if (problem) {
    throw *problem;
  }
  return reader.finish();
}

}  // namespace mote::convert
