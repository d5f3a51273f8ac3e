// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/piper_graph.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr uint64_t kOfGelu = 2;      // whose root GELU divides by
constexpr float kLastSlope = 0.01f;  // of the activation in front of the last convolution

/// The operators that only move, compare and count: a graph has as many as its exporter needs.
constexpr const char* kMoving[] = {"Add",
                                   "And",
                                   "Cast",
                                   "Clip",
                                   "Concat",
                                   "Constant",
                                   "ConstantOfShape",
                                   "CumSum",
                                   "Div",
                                   "Equal",
                                   "Exp",
                                   "Expand",
                                   "Gather",
                                   "GatherElements",
                                   "GatherND",
                                   "Greater",
                                   "GreaterOrEqual",
                                   "Identity",
                                   "Less",
                                   "LessOrEqual",
                                   "Log",
                                   "MatMul",
                                   "Max",
                                   "Min",
                                   "Mul",
                                   "Neg",
                                   "NonZero",
                                   "Not",
                                   "Or",
                                   "Pad",
                                   "Pow",
                                   "Range",
                                   "ReduceMax",
                                   "ReduceMean",
                                   "ReduceSum",
                                   "Reshape",
                                   "ScatterND",
                                   "Shape",
                                   "Slice",
                                   "Split",
                                   "Sqrt",
                                   "Squeeze",
                                   "Sub",
                                   "Transpose",
                                   "Unsqueeze",
                                   "Where"};

/// Derives the sizes of weights and proves the operators.
class PiperGraph {
 public:
  PiperGraph(const PiperWeights& weights, json& config) : weights_(weights), config_(config) {
    for (const OnnxNode& node : graph().nodes) ++counts_[node.op];
  }

  void read() {
    take_sizes();
    check_slopes();
    check_operators();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { weights_.refuse(what); }
  const OnnxGraph& graph() const { return weights_.model->graph; }

  uint64_t dim(const std::string& name, size_t index) const {
    const auto found = weights_.tensors.find(name);
    if (found == weights_.tensors.end()) refuse("it has no " + name);
    if (index >= found->second.shape.size()) refuse(name + " has another shape");
    return found->second.shape[index];
  }
  uint64_t count(const std::string& pattern) const {
    uint64_t found = 0;
    while (weights_.tensors.count(fmt::format(fmt::runtime(pattern), found)) != 0) ++found;
    return found;
  }
  const OnnxNode& convolution(const std::string& name) const {
    const auto found = weights_.convolutions.find(name);
    if (found == weights_.convolutions.end()) refuse("it has no " + name);
    return *found->second;
  }
  static std::vector<int64_t> integers(const OnnxNode& node, const char* key, std::vector<int64_t> fallback) {
    const OnnxAttribute* given = node.find(key);
    return given == nullptr || given->integers.empty() ? fallback : given->integers;
  }
  static int64_t dilation(const OnnxNode& node) { return integers(node, "dilations", {1})[0]; }

  void take_sizes() {
    const std::string encoder = "text_encoder.encoder.layers.", durations = "duration_predictor.";
    const uint64_t width = dim("text_encoder.embed_tokens.weight", 1),
                   head = dim(encoder + "0.attention.emb_rel_k", 2);
    if (head == 0 || width % head != 0) refuse("its heads do not fit its width");
    layers_ = count(encoder + "{}.attention.q_proj.weight");
    config_["vocab_size"] = dim("text_encoder.embed_tokens.weight", 0);
    config_["hidden_size"] = width;
    config_["flow_size"] = dim("text_encoder.project.weight", 0) / 2;
    config_["num_hidden_layers"] = layers_;
    config_["num_attention_heads"] = width / head;
    config_["window_size"] = dim(encoder + "0.attention.emb_rel_k", 1) / 2;
    config_["ffn_dim"] = dim(encoder + "0.feed_forward.conv_1.weight", 0);
    config_["ffn_kernel_size"] = dim(encoder + "0.feed_forward.conv_1.weight", 2);
    config_["hidden_act"] = "relu";
    if (weights_.convolutions.count(durations + "conv_1") != 0 ||
        weights_.convolutions.count(durations + "conv_dds.convs_dilated.0") == 0)
      refuse("its durations are not drawn from noise (use_sdp is false)");
    duration_layers_ = count(durations + "conv_dds.convs_dilated.{}.weight");
    config_["depth_separable_num_layers"] = duration_layers_;
    config_["duration_predictor_kernel_size"] = dim(durations + "conv_dds.convs_dilated.0.weight", 2);
    for (splines_ = 0;
         weights_.tensors.count(fmt::format("{}flows.{}.conv_proj.weight", durations, splines_ + 2)) != 0;)
      ++splines_;
    config_["duration_predictor_num_flows"] = splines_ + 1;
    config_["duration_predictor_flow_bins"] = (dim(durations + "flows.2.conv_proj.weight", 0) + 1) / 3;
    config_["duration_predictor_tail_bound"] = weights_.bound.value_or(0.0);
    flows_ = count("flow.flows.{}.conv_pre.weight");
    wavenet_layers_ = count("flow.flows.0.wavenet.in_layers.{}.weight");
    config_["prior_encoder_num_flows"] = flows_;
    config_["prior_encoder_num_wavenet_layers"] = wavenet_layers_;
    config_["wavenet_kernel_size"] = dim("flow.flows.0.wavenet.in_layers.0.weight", 2);
    const bool has_two = wavenet_layers_ > 1;
    config_["wavenet_dilation_rate"] =
        has_two ? static_cast<uint64_t>(dilation(convolution("flow.flows.0.wavenet.in_layers.1")))
                : uint64_t{1};
    take_sound_sizes();
    const bool has_speakers = weights_.tensors.count("embed_speaker.weight") != 0;
    config_["speaker_embedding_size"] = has_speakers ? dim("embed_speaker.weight", 1) : 0;
    const uint64_t speakers = has_speakers ? dim("embed_speaker.weight", 0) : 1;
    if (config_["num_speakers"] != speakers)
      refuse(fmt::format("num_speakers is {}, its table has {}", config_["num_speakers"].dump(), speakers));
    for (const auto& [name, node] : weights_.convolutions) check_convolution(name, *node);
    for (const double divisor : weights_.divisors) {
      const auto is_root = [&](uint64_t of) {
        return std::abs(divisor * divisor - static_cast<double>(of)) < 1e-4 * static_cast<double>(of);
      };
      if (!is_root(head) && !is_root(width) && !is_root(kOfGelu) &&
          divisor != static_cast<double>(blocks_of_stage_))
        refuse(fmt::format("it divides by {}", divisor));
    }
  }

  void take_sound_sizes() {
    config_["upsample_initial_channel"] = dim("decoder.conv_pre.weight", 0);
    stages_ = count("decoder.upsampler.{}.weight");
    json rates = json::array(), rate_taps = json::array(), taps = json::array(), dilations = json::array();
    for (uint64_t i = 0; i < stages_; ++i) {
      const std::string name = fmt::format("decoder.upsampler.{}", i);
      rates.push_back(static_cast<uint64_t>(integers(convolution(name), "strides", {1})[0]));
      rate_taps.push_back(dim(name + ".weight", 2));
    }
    const bool in_pairs = weights_.tensors.count("decoder.resblocks.0.convs1.0.weight") != 0;
    const std::string convs =
        in_pairs ? "decoder.resblocks.{}.convs1.0.weight" : "decoder.resblocks.{}.convs.0.weight";
    const uint64_t blocks = count(convs);
    if (stages_ == 0 || blocks % stages_ != 0) refuse("its blocks do not fit its stages");
    for (uint64_t block = 0; block < blocks / stages_; ++block) {
      const std::string own = fmt::format("decoder.resblocks.{}.{}", block, in_pairs ? "convs1." : "convs.");
      taps.push_back(dim(own + "0.weight", 2));
      json list = json::array();
      for (uint64_t i = 0; weights_.convolutions.count(own + std::to_string(i)) != 0; ++i)
        list.push_back(static_cast<uint64_t>(dilation(convolution(own + std::to_string(i)))));
      dilations.push_back(std::move(list));
    }
    blocks_of_stage_ = blocks / stages_;
    dilations_ = dilations;
    config_["upsample_rates"] = rates;
    config_["upsample_kernel_sizes"] = rate_taps;
    config_["resblock"] = in_pairs ? 1 : 2;
    config_["resblock_kernel_sizes"] = taps;
    config_["resblock_dilation_sizes"] = dilations;
  }

  /// Returns the number at the end of a name, or behind `part`.
  static uint64_t number_in(const std::string& name, const std::string& part) {
    const size_t at = name.find(part);
    return at == std::string::npos ? 0 : std::strtoull(name.c_str() + at + part.size(), nullptr, 10);
  }

  int64_t expected_dilation(const std::string& name, uint64_t taps) const {
    if (const std::string part = "convs_dilated."; name.find(part) != std::string::npos)
      return static_cast<int64_t>(std::pow(taps, number_in(name, part)));
    if (const std::string part = "in_layers."; name.find(part) != std::string::npos)
      return static_cast<int64_t>(
          std::pow(config_["wavenet_dilation_rate"].get<double>(), number_in(name, part)));
    const bool first = name.find(".convs1.") != std::string::npos;
    if (!first && name.find(".convs.") == std::string::npos) return 1;
    const uint64_t block = number_in(name, "resblocks.") % blocks_of_stage_;
    const uint64_t i = number_in(name, first ? ".convs1." : ".convs.");
    return i < dilations_[block].size() ? dilations_[block][i].get<int64_t>() : 0;
  }

  /// Returns the rows of zeros on both sides: those of the convolution, or of a Pad in front of it.
  std::vector<int64_t> pads_of(const OnnxNode& node) const {
    std::vector<int64_t> pads = integers(node, "pads", {0, 0});
    const OnnxNode* before = weights_.maker(node.inputs[0]);
    if (pads != std::vector<int64_t>{0, 0} || before == nullptr || before->op != "Pad") return pads;
    const OnnxTensor* sides = weights_.initializer(*before, 1);
    if (sides == nullptr || sides->size() != 6 || sides->type != OnnxType::i64) return {};
    const auto side = [&](uint64_t i) { return static_cast<int64_t>(sides->value(i)); };
    for (const uint64_t other : {0, 1, 3, 4})
      if (side(other) != 0) return {};
    return {side(2), side(5)};
  }

  void check_convolution(const std::string& name, const OnnxNode& node) const {
    const OnnxTensor& weight = *weights_.initializer(node, 1);
    const auto taps = static_cast<int64_t>(weight.dims[2]);
    const bool finer = node.op == "ConvTranspose",
               depthwise = name.find("convs_dilated.") != std::string::npos;
    if (finer != name.starts_with("decoder.upsampler.")) refuse(fmt::format("{} is a {}", name, node.op));
    const int64_t stride = integers(node, "strides", {1})[0], dilated = dilation(node);
    const int64_t before = finer ? (taps - stride) / 2 : (taps - 1) * dilated / 2;
    const bool fits = (finer || stride == 1) &&
                      dilated == (finer ? 1 : expected_dilation(name, weight.dims[2])) &&
                      pads_of(node) == std::vector<int64_t>{before, before} &&
                      integers(node, "output_padding", {0}) == std::vector<int64_t>{0} &&
                      node.integer("group", 1) == (depthwise ? static_cast<int64_t>(weight.dims[0]) : 1) &&
                      (node.find("auto_pad") == nullptr || node.find("auto_pad")->text == "NOTSET");
    if (!fits) refuse(fmt::format("strides, pads, dilations or groups of {} are not the model's", name));
  }

  void check_slopes() {
    const OnnxNode* last = weights_.maker(convolution("decoder.conv_post").inputs[0]);
    std::optional<float> slope;
    for (const OnnxNode& node : graph().nodes) {
      if (node.op != "LeakyRelu") continue;
      const float alpha = node.number("alpha", kLastSlope);
      if (&node == last ? alpha != kLastSlope : slope && *slope != alpha)
        refuse(fmt::format("the slope of {} is {}", shown(node.name), alpha));
      if (&node != last) slope = alpha;
    }
    if (last == nullptr || last->op != "LeakyRelu" || !slope) refuse("its last activation is no LeakyRelu");
    config_["leaky_relu_slope"] = *slope;
  }

  void check_operators() {
    std::map<std::string, uint64_t> expected = {{"Conv", weights_.convolutions.size() - stages_},
                                                {"ConvTranspose", stages_},
                                                {"Relu", layers_},
                                                {"Erf", 2 * duration_layers_ * (1 + splines_)},
                                                {"Softmax", layers_ + 2 * splines_},
                                                {"Softplus", splines_},
                                                {"Sigmoid", flows_ * wavenet_layers_},
                                                {"Tanh", flows_ * wavenet_layers_ + 1},
                                                {"RandomNormalLike", 2},
                                                {"Ceil", 1}};
    for (const auto& [op, number] : expected) {
      if (counts_[op] != number)
        refuse(fmt::format("it has {} {}, the model has {}", counts_[op], op, number));
    }
    expected["LeakyRelu"] = 0;
    for (const auto& [op, number] : counts_) {
      const bool moves =
          std::any_of(std::begin(kMoving), std::end(kMoving), [&](const char* own) { return op == own; });
      if (!moves && expected.count(op) == 0)
        refuse(fmt::format("it has {}, which the model has not", shown(op)));
    }
  }

  const PiperWeights& weights_;
  json& config_;
  std::map<std::string, uint64_t> counts_;
  json dilations_;
  uint64_t layers_ = 0, duration_layers_ = 0, splines_ = 0, flows_ = 0, wavenet_layers_ = 0, stages_ = 0,
           blocks_of_stage_ = 1;
};

}  // namespace

void read_piper_graph(const std::shared_ptr<const OnnxModel>& model, json& config,
                      std::map<std::string, SourceTensor>& tensors) {
  PiperWeights weights = name_piper_weights(model);
  PiperGraph(weights, config).read();
  tensors = std::move(weights.tensors);
}

}  // namespace mote::convert
