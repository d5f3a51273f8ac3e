// SPDX-License-Identifier: Apache-2.0
//
// The graph of a Piper voice, which is VITS as torch exports it: its weights by Hugging Face's names, and the
// sizes that Hugging Face's config.json would have. Noise is drawn in the graph and durations decide shapes,
// so the proof of other graphs (proof.h) does not reach it. In its place every weight has to be one of the
// model's, and every convolution, activation and constant has to be what the model has there.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "converter/onnx/onnx_model.h"
#include "converter/source.h"

namespace mote::convert {

/// Returns the name of Hugging Face for a weight or a module of Piper's training code
/// ("dec.ups.0" -> "decoder.upsampler.0"); "" where the model has none of that name.
std::string piper_to_hf(const std::string& name);

/// The graph of a voice, by its parts.
struct PiperWeights {
  std::shared_ptr<const OnnxModel> model;
  std::map<std::string, const OnnxNode*> makers;        // of values
  std::map<std::string, const OnnxNode*> convolutions;  // by their modules' names
  std::map<std::string, SourceTensor> tensors;
  std::set<double> divisors;    // numbers that values are divided by
  std::optional<double> bound;  // of splines

  [[noreturn]] void refuse(const std::string& what) const;
  /// Returns the initializer that a node reads; null where it reads none there.
  const OnnxTensor* initializer(const OnnxNode& node, size_t input) const;
  const OnnxNode* maker(const std::string& value) const;
};

/// Finds the weights, all of which have to be a voice's. Throws Error.
PiperWeights name_piper_weights(std::shared_ptr<const OnnxModel> model);

/// Takes the weights, which stay in the model's file, and adds the sizes to a config. Throws Error, naming
/// the operator or the weight that a voice of Piper's does not have.
void read_piper_graph(const std::shared_ptr<const OnnxModel>& model, nlohmann::json& config,
                      std::map<std::string, SourceTensor>& tensors);

}  // namespace mote::convert
