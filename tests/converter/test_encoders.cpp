// SPDX-License-Identifier: Apache-2.0
//
// Encoders' configs, heads and directories: what is read, and what is refused by name.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/build_transformer.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A golden model copied, to be changed.
class Directory {
 public:
  explicit Directory(const std::string& name) {
    fs::copy(fs::path(MOTE_SOURCE_DIR) / "tests/golden/models" / name, path(), fs::copy_options::recursive);
  }
  fs::path path() const { return root_ / "model"; }
  void change(const std::string& file, const std::function<void(json&)>& edit) const {
    json values = json::parse(read_text(path() / file));
    edit(values);
    write_text(path() / file, values.dump());
  }
  void set(const std::string& key, const json& value) const {
    change("config.json", [&](json& config) { config[key] = value; });
  }
  Source source() const { return read_source(path()); }
  TransformerSpec spec() const {
    const Source from = source();
    Config config(*from.config);
    const TransformerSpec read = find_architecture(config).read(from, config);
    config.finish();
    config.check_keys();
    return read;
  }
  Graph graph() const {
    const Source from = source();
    Config config(*from.config);
    const TransformerSpec read = find_architecture(config).read(from, config);
    TensorSet tensors(from);
    return build_transformer(read, TypePolicy("f32", from, true), tensors);
  }
  std::string error() const {
    return message_of<Error>([&] {
      spec();
      graph();
    });
  }

 private:
  TempDirectory root_;
};

const Weight& weight(const Graph& graph, const std::string& name) {
  for (const Weight& candidate : graph.weights) {
    if (candidate.name == name) return candidate;
  }
  FAIL("no weight " << name);
  return graph.weights.front();
}

}  // namespace

TEST("the head follows from architectures, and labels from id2label or the matrix") {
  TEST_ASSERT_TRUE(Directory("bert").spec().head.kind == OutputKind::hidden);
  TEST_ASSERT_TRUE(Directory("roberta_masked_lm").spec().head.kind == OutputKind::masked_token);
  TEST_ASSERT_TRUE(Directory("albert_qa").spec().head.kind == OutputKind::answer_span);
  TEST_ASSERT_TRUE(Directory("electra_discriminator").spec().head.probabilities == Probabilities::sigmoid);
  const Directory tokens("xlm_roberta_tokens");
  tokens.set("id2label", {{"0", "O"}, {"1", "B-PER"}, {"2", "I-PER"}, {"3", "B-LOC"}, {"4", "I-LOC"}});
  TEST_ASSERT_EQUAL_STRING("I-PER", tokens.spec().head.labels.at(2));
  tokens.set("id2label", {{"0", "O"}, {"1", "B-PER"}});
  TEST_ASSERT_TRUE(contains(tokens.error(), "id2label"));
  const Directory unnamed("distilbert_classifier");
  TEST_ASSERT_EQUAL_UINT64(2, unnamed.spec().head.labels.size());
  TEST_ASSERT_EQUAL_STRING("LABEL_1", unnamed.spec().head.labels.at(1));
}

TEST("labels' probabilities follow the kind of problem") {
  const Directory directory("bert_classifier");
  TEST_ASSERT_TRUE(directory.spec().head.probabilities == Probabilities::softmax);
  directory.set("problem_type", "multi_label_classification");
  TEST_ASSERT_TRUE(directory.spec().head.probabilities == Probabilities::sigmoid);
  directory.set("problem_type", "regression");
  TEST_ASSERT_TRUE(directory.spec().head.probabilities == Probabilities::none);
  directory.set("problem_type", nullptr);
  directory.set("sentence_transformers", {{"activation_fn", "torch.nn.modules.linear.Identity"}});
  TEST_ASSERT_TRUE(directory.spec().head.probabilities == Probabilities::none);
  directory.set("sentence_transformers", {{"activation_fn", "torch.nn.modules.activation.Tanh"}});
  TEST_ASSERT_TRUE(contains(directory.error(), "Tanh"));
}

TEST("keys and heads that would change the results are refused by name") {
  const Directory bert("bert");
  bert.set("architectures", {"BertForMultipleChoice"});
  TEST_ASSERT_TRUE(contains(bert.error(), "BertForMultipleChoice"));
  bert.set("architectures", {"BertModel"});
  TEST_ASSERT_EQUAL_STRING("", bert.error());
  bert.set("position_embedding_type", "relative_key");
  TEST_ASSERT_TRUE(contains(bert.error(), "relative_key"));
  bert.set("position_embedding_type", "absolute");
  bert.set("is_decoder", true);
  TEST_ASSERT_TRUE(contains(bert.error(), "is_decoder"));
  bert.set("is_decoder", false);
  bert.set("add_cross_attention", true);
  TEST_ASSERT_TRUE(contains(bert.error(), "add_cross_attention"));
  const Directory albert("albert_qa");
  albert.set("inner_group_num", 2);
  TEST_ASSERT_TRUE(contains(albert.error(), "inner_group_num"));
  const Directory mpnet("mpnet_sentence");
  mpnet.set("relative_attention_num_buckets", 64);
  TEST_ASSERT_TRUE(contains(mpnet.error(), "relative_attention_num_buckets"));
}

TEST("a head's weights are left over when the model is read without it, and a bare model ignores them") {
  const Directory directory("bert_classifier");
  directory.set("architectures", {"BertModel"});
  TEST_ASSERT_EQUAL_STRING("", directory.error());
  TEST_ASSERT_TRUE(directory.spec().head.kind == OutputKind::hidden);
  directory.set("architectures", {"BertForTokenClassification"});
  TEST_ASSERT_EQUAL_STRING("", directory.error());  // the pooler is what it does without
}

TEST("positions of RoBERTa and MPNet start after the padding token's") {
  for (const char* name : {"roberta_masked_lm", "mpnet_sentence"}) {
    const Directory directory(name);
    const Graph graph = directory.graph();
    const Weight& positions = weight(graph, "positions");
    TEST_ASSERT_EQUAL_UINT32(2, positions.parts.at(0).first_row);
    TEST_ASSERT_EQUAL_UINT32(graph.context, positions.rows);
  }
  TEST_ASSERT_EQUAL_UINT32(28, Directory("roberta_masked_lm").graph().context);
  const Directory without_padding("roberta_masked_lm");
  without_padding.set("pad_token_id", 30);
  TEST_ASSERT_TRUE(contains(without_padding.error(), "positions"));
}

TEST("layers of ALBERT share their weights in the file too") {
  const Graph graph = Directory("albert_qa").graph();
  size_t attentions = 0;
  for (const Node& node : graph.nodes) attentions += std::holds_alternative<AttentionNode>(node);
  TEST_ASSERT_EQUAL_UINT64(3, attentions);
  TEST_ASSERT_EQUAL_UINT64(1, graph.caches.size());
  for (const Weight& candidate : graph.weights) {
    TEST_ASSERT_FALSE(candidate.name.starts_with("layer.1."));
  }
}

TEST("MPNet's buckets become a bias by distance") {
  // The first distances of buckets 24 and up of the original's relative_position_bucket.
  const int32_t firsts[] = {8, 12, 16, 23, 32, 46, 64, 91};
  const Directory directory("mpnet_sentence");
  directory.change("config.json", [](json& config) { config["max_position_embeddings"] = 302; });
  directory.change("sentence_bert_config.json", [](json& config) { config["max_seq_length"] = 200; });
  const Source source = directory.source();
  const SourceTensor& table = source.tensors.at("encoder.relative_attention_bias.weight");
  const TransformerSpec spec = directory.spec();
  const auto bias = [&](uint32_t head, int32_t distance) {
    return spec.attention_biases.at(0).at(
        size_t{head} * (2 * spec.context - 1) +
        static_cast<size_t>(distance + static_cast<int32_t>(spec.context) - 1));
  };
  std::vector<float> row(3);
  const auto check = [&](uint32_t bucket, int32_t distance) {
    read_row(table, bucket, row);
    for (uint32_t head = 0; head < 3; ++head) TEST_ASSERT_TRUE(bias(head, distance) == row[head]);
  };
  for (int32_t distance = 0; distance < 8; ++distance) {
    check(static_cast<uint32_t>(distance), -distance);
    if (distance > 0) check(static_cast<uint32_t>(16 + distance), distance);
  }
  for (uint32_t i = 0; i < 8; ++i) {
    for (const int32_t distance : {firsts[i], i + 1 < 8 ? firsts[i + 1] - 1 : 199}) {
      check(24 + i, distance);
      check(8 + i, -distance);
    }
  }
}

TEST("a sentence-transformers directory says how tokens are pooled and how many there are") {
  const Directory directory("mpnet_sentence");
  const TransformerSpec spec = directory.spec();
  TEST_ASSERT_TRUE(spec.head.kind == OutputKind::embedding && spec.head.pool == PoolKind::mean);
  TEST_ASSERT_TRUE(spec.head.normalize);
  TEST_ASSERT_EQUAL_UINT32(23, spec.context);  // of max_seq_length, not the 28 positions
  directory.change("1_Pooling/config.json", [](json& config) {
    config["pooling_mode_mean_tokens"] = false;
    config["pooling_mode_cls_token"] = true;
  });
  TEST_ASSERT_TRUE(directory.spec().head.pool == PoolKind::first);
  directory.change("1_Pooling/config.json", [](json& config) { config["pooling_mode_max_tokens"] = true; });
  TEST_ASSERT_TRUE(directory.spec().head.pool == PoolKind::first);  // two, side by side
  TEST_ASSERT_TRUE(directory.spec().head.more_pools == std::vector<PoolKind>{PoolKind::max});
  directory.change("1_Pooling/config.json",
                   [](json& config) { config["pooling_mode_weightedmean_tokens"] = true; });
  TEST_ASSERT_TRUE(contains(directory.error(), "weightedmean_tokens is not supported"));
  directory.change("1_Pooling/config.json", [](json& config) { config = {{"pooling_mode", "lasttoken"}}; });
  TEST_ASSERT_TRUE(directory.spec().head.pool == PoolKind::last);
  directory.change("1_Pooling/config.json", [](json& config) { config = json::object(); });
  TEST_ASSERT_TRUE(contains(directory.error(), "no pooling mode"));
}

TEST("modules that are not understood or lie elsewhere are refused by name") {
  const Directory dense("mpnet_sentence");
  dense.change("modules.json",
               [](json& modules) { modules[2]["type"] = "sentence_transformers.models.LSTM"; });
  TEST_ASSERT_TRUE(contains(dense.error(), "LSTM"));
  const Directory order("mpnet_sentence");
  order.change("modules.json", [](json& modules) { std::swap(modules[1], modules[2]); });
  TEST_ASSERT_TRUE(contains(order.error(), "in this order"));
  const Directory outside("mpnet_sentence");
  outside.change("modules.json", [](json& modules) { modules[1]["path"] = "../1_Pooling"; });
  TEST_ASSERT_TRUE(contains(outside.error(), "outside"));
  const Directory none("mpnet_sentence");
  none.change("modules.json", [](json& modules) { modules.erase(0); });
  TEST_ASSERT_TRUE(contains(none.error(), "Pooling"));
}

TEST("gamma and beta of old checkpoints are a norm's weight and bias") {
  const Directory directory("bert");
  std::string weights = read_text(directory.path() / "model.safetensors");
  for (const auto& [now, old] :
       {std::pair<std::string, std::string>("LayerNorm.weight\"", "LayerNorm.gamma\" "),
        {"LayerNorm.bias\"", "LayerNorm.beta\""}}) {
    for (size_t at = 0; (at = weights.find(now, at)) != std::string::npos;)
      weights.replace(at, now.size(), old);
  }
  write_text(directory.path() / "model.safetensors", weights);
  TEST_ASSERT_EQUAL_STRING("", directory.error());
}
