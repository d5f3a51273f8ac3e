// SPDX-License-Identifier: Apache-2.0
//
// Which head an encoder has, from config.json's architectures: "BertForTokenClassification" and so on.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/tied_head.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

// Starts of the names of weights of heads, which a bare model does without.
const std::vector<std::string> kHeads = {"cls.",       "lm_head.",        "classifier.",  "qa_outputs.",
                                         "vocab_",     "pre_classifier.", "predictions.", "sop_classifier.",
                                         "generator_", "discriminator_",  "lm_loss."};
// The other half of a pretraining head, beside the masked tokens.
const std::vector<std::string> kPairHeads = {"cls.seq_relationship.", "sop_classifier."};

/// As Hugging Face's pipelines do; cross encoders of sentence-transformers may say otherwise.
Probabilities read_probabilities(const Source& source, Config& config, size_t labels) {
  const std::string problem = config.optional_text("problem_type").value_or("");
  std::string cross = config.optional_text("sbert_ce_default_activation_function").value_or("");
  const nlohmann::json* own = config.value("sentence_transformers");
  if (own != nullptr && !own->is_object()) config.refuse_value("sentence_transformers", own, "an object");
  if (own != nullptr)
    cross = config.inner(*own, "sentence_transformers.").optional_text("activation_fn").value_or(cross);
  if (!source.label_activation.empty()) cross = source.label_activation;
  if (problem == "regression" || cross.ends_with(".Identity")) return Probabilities::none;
  if (problem == "multi_label_classification" || cross.ends_with(".Sigmoid")) return Probabilities::sigmoid;
  if (!cross.empty())
    config.refuse("activation {} of the labels is not supported; supported are Identity, Sigmoid", cross);
  return labels == 1 ? Probabilities::sigmoid : Probabilities::softmax;
}

void set_labels(HeadSpec& head, OutputKind kind, const std::string& output, std::vector<std::string> labels) {
  head.kind = kind;
  head.output = output;
  head.labels = std::move(labels);
  head.width = static_cast<uint32_t>(head.labels.size());
}

/// Makes the head say where an answer in a text begins and ends.
void set_answers(HeadSpec& head, const std::string& output) {
  head.kind = OutputKind::answer_span;
  head.output = output;
  head.width = 2;
}

void read_masked(Config& config, const HeadNames& names, TransformerSpec& spec) {
  spec.head.kind = OutputKind::masked_token;
  spec.head.dense = names.masked;
  spec.head.output = names.vocabulary;
  spec.head.output_bias = names.vocabulary_bias;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
}

/// Token vectors, or one vector for a text.
void read_bare(const Source& source, const HeadNames& names, TransformerSpec& spec) {
  spec.head.kind = source.pooling ? OutputKind::embedding : OutputKind::hidden;
  spec.head.probabilities = Probabilities::none;
  if (source.pooling) {
    spec.head.pool = source.pooling->kind;
    spec.head.more_pools = source.pooling->more_kinds;
    spec.head.normalize = source.pooling->normalize;
    for (const SentencePooling::Dense& dense : source.pooling->dense)
      spec.head.projections.push_back({dense.name, "", dense.activation, dense.width, dense.bias});
  }
  const std::string pooler = names.base + names.pooler;
  if (!names.pooler.empty() && source.tensors.count(pooler + ".weight") != 0) {
    spec.head.pooler = {pooler, "", Activation::tanh, spec.width};
  }
}

/// An encoder of a decoder, without its head. `what`: what is made of its token vectors, for the message.
void make_causal_encoder(const Source& source, const char* what, TransformerSpec& spec) {
  for (LayerSpec& layer : spec.layers) {
    AttentionSpec& attention = layer.attention;
    if (attention.shared != kNone || attention.window == 1)
      fail("{} of token vectors; layers of this decoder are not supported there", what);
    attention.causal = true;
    attention.sides = attention.window == 0 ? 0 : attention.window - 1;
    attention.window = 0;
  }
  if (source.max_tokens != 0) spec.context = std::min(spec.context, source.max_tokens);
  spec.head = {};
  spec.tied_embedding = false;
  spec.logit_multiplier = 1.0f;
  spec.logit_softcap = 0.0f;
  spec.names.ignored_starts.push_back("lm_head.");
}

/// A label that is a decoder's logit, or the difference of two.
void read_logit_score(const Source& source, Config& config, TransformerSpec& spec) {
  if (spec.logit_softcap != 0.0f) fail("a score of logits that are bent to a range is not supported");
  const LogitScore& score = *source.logit_score;
  for (const uint32_t id : {score.more, score.less.value_or(0)}) {
    if (id >= spec.vocab) fail("the score is of the logit of token {}; the model has {}", id, spec.vocab);
  }
  settle_tied_head(source, spec);
  const std::string matrix = spec.tied_embedding ? spec.names.embedding : spec.names.head;
  const std::string bias = spec.head.output_bias;
  const float multiplier = spec.logit_multiplier;
  make_causal_encoder(source, "a score is of the last token", spec);
  set_labels(spec.head, OutputKind::sequence_labels, matrix, {"LABEL_0"});
  spec.head.probabilities = read_probabilities(source, config, 1);
  spec.head.pool = PoolKind::last;
  spec.head.score = score;
  spec.head.output_bias = bias;
  spec.head.has_bias = false;
  spec.logit_multiplier = multiplier;
}

/// Fails for a class that makes labels of an encoder-decoder, whose rows they are made of differ by class.
void refuse_head_of_pair(Config& config) {
  const std::string task = task_of(config);
  for (const char* head : {"ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"}) {
    if (task == head)
      config.refuse(
          "architectures {} is not supported: an encoder-decoder is read with the head of its texts alone",
          (*config.value("architectures"))[0].dump());
  }
}

}  // namespace

void make_embedder(const Source& source, TransformerSpec& spec) {
  make_causal_encoder(source, "a pooling makes vectors", spec);
  read_bare(source, {}, spec);
}

void read_decoder_head(const Source& source, Config& config, TransformerSpec& spec) {
  if (spec.is_encoder() || source.pooling) return;
  if (spec.source) return refuse_head_of_pair(config);
  if (source.logit_score) return read_logit_score(source, config, spec);
  const nlohmann::json* classes = config.value("architectures");
  if (classes == nullptr || !classes->is_array() || classes->empty() || !classes->front().is_string()) return;
  const std::string task = task_of(config);
  const bool of_texts = task == "ForSequenceClassification", of_tokens = task == "ForTokenClassification";
  const bool of_answers = task == "ForQuestionAnswering";
  if (!of_texts && !of_tokens && !of_answers) return;
  make_causal_encoder(source, of_answers ? "a head finds answers" : "a head makes labels", spec);
  if (of_answers) return set_answers(spec.head, "qa_outputs");
  const std::string matrix = source.tensors.count("score.weight") != 0 ? "score" : "classifier";
  if (of_texts) {
    read_labels_head(source, config, matrix, spec);
    spec.head.pool = PoolKind::last;
    spec.head.padding = config.token_id_of_class("pad_token_id", spec.vocab);
  } else {
    set_labels(spec.head, OutputKind::token_labels, matrix, read_labels(source, config, matrix));
  }
  spec.head.has_bias = source.tensors.count(matrix + ".bias") != 0;
}

std::string task_of(Config& config) {
  const nlohmann::json* list = config.value("architectures");
  if (list == nullptr || (list->is_array() && list->empty())) return "";
  if (!list->is_array() || !list->front().is_string())
    config.refuse_value("architectures", list, "a list of texts");
  const std::string name = list->front().get<std::string>();
  if (name.ends_with("Model") && !name.ends_with("LMHeadModel")) return "";
  const size_t at = name.rfind("For");  // RoFormer has one in its own name
  if (at != std::string::npos) return name.substr(at);
  return name;
}

std::vector<std::string> read_labels(const Source& source, Config& config, const std::string& matrix,
                                     uint64_t others) {
  const auto found = source.tensors.find(matrix + ".weight");
  if (found == source.tensors.end()) fail("tensor {}.weight is missing", matrix);
  const uint64_t count = found->second.rows() - std::min(others, found->second.rows());
  const nlohmann::json* given = config.value("id2label");
  std::vector<std::string> labels;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = std::to_string(i);
    labels.push_back("LABEL_" + key);
    if (given == nullptr) continue;
    if (!given->is_object() || given->size() != count || !given->contains(key) ||
        !(*given)[key].is_string()) {
      config.refuse("id2label does not name the {} labels of {}.weight", count, matrix);
    }
    labels.back() = (*given)[key].get<std::string>();
  }
  return labels;
}

void read_labels_head(const Source& source, Config& config, const std::string& output,
                      TransformerSpec& spec) {
  set_labels(spec.head, OutputKind::sequence_labels, output, read_labels(source, config, output));
  spec.head.probabilities = read_probabilities(source, config, spec.head.width);
}

std::string base_of(const Source& source, const std::string& base) {
  if (!source.base.empty()) return source.base;
  const auto first = source.tensors.lower_bound(base);
  return first != source.tensors.end() && first->first.starts_with(base) ? base : "";
}

void read_head(const Source& source, Config& config, const HeadNames& names, TransformerSpec& spec) {
  std::string task = source.pooling ? "" : task_of(config);
  HeadSpec& head = spec.head;
  if (task == "XLNetLMHeadModel") {  // whose head reads permutations, of no use for texts as they are
    spec.notes.push_back("the head of XLNetLMHeadModel is left out: rows are those of the bare model");
    task.clear();
  }
  // Checkpoints keep poolers that their heads do without.
  spec.names.ignored_starts = kPairHeads;
  if (!names.pooler.empty()) spec.names.ignored_starts.push_back(names.base + names.pooler + ".");
  config.flag("tie_word_embeddings", true);
  if (task.empty()) {
    read_bare(source, names, spec);
    if (!names.base.empty()) spec.names.ignored_starts = kHeads;
  } else if (task == "ForSequenceClassification") {
    read_labels_head(source, config, names.labels, spec);
    head.dense = names.classifier;
  } else if (task == "ForTokenClassification") {
    set_labels(head, OutputKind::token_labels, "classifier", read_labels(source, config, "classifier"));
    head.dense = names.tokens;
  } else if (task == "ForQuestionAnswering") {
    const bool own_name = source.tensors.count("qa_outputs.weight") == 0 && !names.tokens.name.empty();
    set_answers(head, own_name ? "classifier" : "qa_outputs");
    if (own_name) head.dense = names.tokens;
  } else if ((task == "ForMaskedLM" || task == "ForPreTraining") && !names.vocabulary.empty()) {
    read_masked(config, names, spec);
  } else {
    config.refuse(
        "architectures {} is not supported; of encoders, bare models and those for sequence "
        "classification, "
        "token classification, question answering and masked language modelling are",
        (*config.value("architectures"))[0].dump());
  }
}

}  // namespace mote::convert
