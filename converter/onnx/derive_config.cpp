// SPDX-License-Identifier: Apache-2.0
//
// The config of a BERT that lies in an ONNX file by itself: sizes are those of its weights, heads those of
// its scores, epsilon and activation those of its operators. The derived config is proved like any config.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/onnx/onnx_model.h"
#include "converter/onnx/trace.h"
#include "converter/readers/kokoro.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr uint64_t kFollowedTexts = 2, kFollowedRows = 5;

class OnnxConfig {
 public:
  explicit OnnxConfig(const OnnxModel& model) : model_(model) {}

  json derive() {
    const std::string layer = base() + "encoder.layer.0.";
    for (const auto& [name, weight] : model_.weights) {
      const bool known = name.starts_with(base_ + "embeddings.") ||
                         name.starts_with(base_ + "encoder.layer.") || name.starts_with(base_ + "pooler.");
      if (!known) refuse("it has " + shown(name) + ", of a head whose labels or kind no graph says");
    }
    const OnnxWeight &words = table("word"), &positions = table("position"), &types = table("token_type");
    const OnnxWeight& up = weight(layer + "intermediate.dense.weight");
    weight(layer + "attention.self.query.weight");
    const OnnxTrace trace = followed(types);
    return {{"model_type", "bert"},
            {"architectures", json::array({"BertModel"})},
            {"vocab_size", words.tensor->dims[0]},
            {"hidden_size", words.tensor->dims[1]},
            {"max_position_embeddings", positions.tensor->dims[0]},
            {"type_vocab_size", types.tensor->dims[0]},
            {"intermediate_size", up.tensor->dims[up.in_out ? 1 : 0]},
            {"num_hidden_layers", layers()},
            {"num_attention_heads", heads(trace)},
            {"layer_norm_eps", epsilon(trace)},
            {"hidden_act", activation(trace)}};
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail(
        "{} has no config.json beside it, and its graph does not say all that a BERT's would: {}. Put the "
        "config.json of "
        "the model that it was exported from beside it",
        model_.where, what);
  }

  /// Returns the text before BERT's names.
  const std::string& base() {
    base_ = model_.weights.count("bert.embeddings.word_embeddings.weight") != 0 ? "bert." : "";
    return base_;
  }
  const OnnxWeight& weight(const std::string& name) const {
    const auto found = model_.weights.find(name);
    if (found == model_.weights.end()) refuse("it has no " + name);
    if (found->second.tensor->dims.size() != 2) refuse(name + " is no matrix");
    return found->second;
  }
  const OnnxWeight& table(const std::string& kind) const {
    return weight(base_ + "embeddings." + kind + "_embeddings.weight");
  }

  uint64_t layers() const {
    uint64_t count = 0;
    while (model_.weights.count(
               fmt::format("{}encoder.layer.{}.attention.self.query.weight", base_, count)) != 0)
      ++count;
    return count;
  }

  /// The graph for short texts of the first ids.
  OnnxTrace followed(const OnnxWeight& types) const {
    std::vector<float> ids, mask(kFollowedTexts * kFollowedRows, 1.0f), kinds, positions;
    for (uint64_t i = 0; i < kFollowedTexts * kFollowedRows; ++i) {
      ids.push_back(static_cast<float>(i % 4));
      kinds.push_back(types.tensor->dims[0] > 1 ? static_cast<float>(i % 2) : 0.0f);
      positions.push_back(static_cast<float>(i % kFollowedRows));
    }
    std::map<std::string, Traced> inputs;
    const std::pair<const char*, const std::vector<float>*> all[] = {{"input_ids", &ids},
                                                                     {"attention_mask", &mask},
                                                                     {"token_type_ids", &kinds},
                                                                     {"position_ids", &positions}};
    for (const auto& [name, values] : all)
      inputs[name] = known_numbers({kFollowedTexts, kFollowedRows}, *values);
    return trace_onnx(model_.graph, model_.where, std::move(inputs));
  }

  uint64_t heads(const OnnxTrace& trace) const {
    for (const TracedAtom& atom : trace.atoms) {
      if (atom.node != nullptr && atom.node->op == "Softmax" && atom.dims.size() == 4) return atom.dims[1];
    }
    refuse("no softmax of scores shows how many heads there are");
  }

  float epsilon(const OnnxTrace& trace) const {
    for (const TracedAtom& atom : trace.atoms) {
      if (atom.node == nullptr) continue;
      if (atom.node->op == "LayerNormalization") return atom.node->number("epsilon", 1e-5f);
      if (atom.node->op != "Sqrt") continue;
      const TracedAtom* sum = trace.atom(atom.inputs[0]);
      if (sum == nullptr || sum->node == nullptr || sum->node->op != "Add") continue;
      for (const Traced& addend : sum->inputs) {
        if (const std::optional<float> value = trace.scalar(addend)) return *value;
      }
    }
    refuse("no norm shows its epsilon");
  }

  /// That of the operators; one that differs is found by the proof.
  static std::string activation(const OnnxTrace& trace) {
    bool by_tanh = false;
    for (const TracedAtom& atom : trace.atoms) {
      if (atom.node == nullptr) continue;
      if (atom.node->op == "Erf") return "gelu";
      if (atom.node->op == "Relu") return "relu";
      if (atom.node->op == "Gelu") {
        const OnnxAttribute* form = atom.node->find("approximate");
        return form != nullptr && form->text == "tanh" ? "gelu_new" : "gelu";
      }
      by_tanh = by_tanh || atom.node->op == "Tanh";
    }
    return by_tanh ? "gelu_new" : "gelu";
  }

  const OnnxModel& model_;
  std::string base_;
};

}  // namespace

json derive_onnx_config(const OnnxModel& model) {
  const WorkBudget budget(model.where, model.bytes);
  refuse_kokoro(model.graph, model.where);
  return OnnxConfig(model).derive();
}

}  // namespace mote::convert
