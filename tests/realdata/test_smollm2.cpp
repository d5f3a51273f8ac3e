// SPDX-License-Identifier: Apache-2.0
//
// SmolLM2-135M-Instruct as its GGUF Q4_1 file: `scripts/get_model smollm2` fetches it.
#include "converter/source.h"
#include "kernels/dispatch.h"
#include "runtime/file/file.h"
#include "tests/support/realdata.h"
#include "tests/support/test_model.h"

namespace {

const char* const kGguf = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// The model converted to a type ("" keeps the file's own), once per process.
const test::AlignedBytes& converted(const std::string& type) {
  static std::map<std::string, test::AlignedBytes> files;
  if (files.count(type) == 0) {
    const std::filesystem::path path = test::temporary_folder() / ("smollm2." + type + ".mote");
    mote::convert::ConvertOptions options;
    options.type = type;
    mote::convert::convert(test::fetched_model(kGguf), path, options);
    files.emplace(type, test::read_file(path));
    std::filesystem::remove(path);
  }
  return files.at(type);
}

/// A row of a packed tensor as f32: the lookup that the reference embedding does.
std::vector<float> unpacked_row(const uint8_t* data, const mote::file::Tensor& tensor, int32_t row) {
  const mote::KernelEntry* entry = mote::find_kernel(
      mote::Op::kEmbed, mote::DType::f32, static_cast<mote::DType>(tensor.dtype()), mote::Isa::kRef);
  REQUIRE(entry != nullptr);
  const uint64_t stride = mote::buffer_row_bytes(mote::DType::f32, tensor.cols());
  std::vector<float> out(stride / sizeof(float));
  mote::kernel_cast<mote::EmbedArgs>(entry)(
      {data, tensor.cols(), tensor.packing() == mote::file::Packing::rows, &row, {out.data(), stride}},
      {0, 1}, nullptr);
  out.resize(tensor.cols());
  return out;
}

const mote::file::Tensor* find_tensor(const mote::file::Model* root, const std::string& name) {
  for (const mote::file::Tensor* tensor : *root->tensors()) {
    if (tensor->name()->str() == name) return tensor;
  }
  FAIL("no tensor " << name);
  return nullptr;
}

struct Origin {
  std::string tensor;                // in the .mote file
  std::vector<std::string> sources;  // Hugging Face names, one below the other
};

std::vector<Origin> origins() {
  std::vector<Origin> found{{"embedding", {"model.embed_tokens"}}, {"final_norm", {"model.norm"}}};
  for (int layer = 0; layer < 30; ++layer) {
    const std::string to = "layer." + std::to_string(layer) + ".";
    const std::string from = "model.layers." + std::to_string(layer) + ".";
    const std::string attention = from + "self_attn.", mlp = from + "mlp.";
    found.push_back({to + "q+k+v", {attention + "q_proj", attention + "k_proj", attention + "v_proj"}});
    found.push_back({to + "o", {attention + "o_proj"}});
    found.push_back({to + "gate+up", {mlp + "gate_proj", mlp + "up_proj"}});
    found.push_back({to + "down", {mlp + "down_proj"}});
    found.push_back({to + "attention_norm", {from + "input_layernorm"}});
    found.push_back({to + "ffn_norm", {from + "post_attention_layernorm"}});
  }
  return found;
}

// Its chat format around eight questions: the capital of France, a poem about the sea, photosynthesis for a
// child, uses of a paper clip, boiling an egg, a story about a mouse, viruses and bacteria, a recipe for
// pancakes.
const std::vector<int32_t> kBefore{1,     9690, 198,  2683, 359, 253,   5356, 5646, 11173, 3365, 3511, 308,
                                   34519, 28,   7018, 411,  407, 19712, 8182, 2,    198,   1,    4093, 198};
const std::vector<int32_t> kAfter{2, 198, 1, 520, 9531, 198};
const std::vector<std::vector<int32_t>> kQuestions{
    {1780, 314, 260, 3575, 282, 4649, 47},
    {19161, 253, 1890, 8216, 563, 260, 3426, 30},
    {36971, 19173, 288, 253, 811, 30},
    {6106, 1296, 2925, 282, 253, 1941, 16092, 30},
    {2020, 536, 339, 17663, 354, 3785, 47},
    {31530, 549, 253, 1977, 563, 253, 12833, 9444, 30},
    {1780, 314, 260, 3193, 826, 253, 3329, 284, 253, 22596, 47},
    {26533, 549, 253, 11594, 327, 45137, 30}};
constexpr uint32_t kAnswerTokens = 64;

std::vector<int32_t> prompt_of(const std::vector<int32_t>& question) {
  std::vector<int32_t> prompt(kBefore);
  prompt.insert(prompt.end(), question.begin(), question.end());
  prompt.insert(prompt.end(), kAfter.begin(), kAfter.end());
  return prompt;
}

struct TopTwo {
  int32_t id;
  float gap;
};

TopTwo top_two(const float* logits, uint32_t vocab) {
  int32_t best = logits[0] < logits[1] ? 1 : 0;
  float second = logits[1 - best];
  for (uint32_t i = 2; i < vocab; ++i) {
    if (logits[i] > logits[best]) {
      second = logits[best];
      best = static_cast<int32_t>(i);
    } else if (logits[i] > second) {
      second = logits[i];
    }
  }
  return {best, logits[best] - second};
}

class Machine {
 public:
  explicit Machine(const std::string& type) : model_(converted(type)), pool_(mote_posix_pool_create(2)) {
    mote_session_options options = mote_session_options_default(model_.get());
    options.context = 512;
    const mote_isa isa = options.platform.isa;
    options.platform = mote_posix_pool_platform(pool_);
    options.platform.isa = isa;
    session_ = std::make_unique<test::OpenSession>(model_, options);
  }
  ~Machine() { mote_posix_pool_destroy(pool_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void start(const std::vector<int32_t>& prompt) {
    REQUIRE(mote_session_truncate(session_->get(), 0, 0, nullptr) == MOTE_OK);
    test::prefill(session_->get(), prompt, model_.info().vocab);
  }
  TopTwo best() const { return top_two(mote_session_logits(session_->get(), 0), model_.info().vocab); }
  void feed(int32_t id) { REQUIRE(mote_decode(session_->get(), &id, nullptr) == MOTE_OK); }

 private:
  test::OpenModel model_;
  mote_posix_pool* pool_;
  std::unique_ptr<test::OpenSession> session_;
};

}  // namespace

TEST("SmolLM2's weights are the GGUF's, bit for bit") {
  const std::filesystem::path gguf = test::fetched_model(kGguf);
  SKIP_WITHOUT(gguf);
  const mote::convert::Source source = mote::convert::read_source(gguf);
  const test::AlignedBytes& file = converted("");
  const test::OpenModel model(file);
  const mote::file::Model* root = mote::file::GetSizePrefixedModel(file.data());
  const uint8_t* segment = file.data() + file.size() - root->segment_bytes();
  for (const Origin& origin : origins()) {
    const mote::file::Tensor* tensor = find_tensor(root, origin.tensor);
    int32_t row = 0;
    for (const std::string& name : origin.sources) {
      const mote::convert::SourceTensor& from = source.tensors.at(name + ".weight");
      std::vector<float> expected(from.cols());
      for (uint64_t r = 0; r < from.rows(); ++r, ++row) {
        mote::convert::read_row(from, r, expected);
        const std::vector<float> actual = unpacked_row(segment + tensor->offset(), *tensor, row);
        CAPTURE(origin.tensor, name, r);
        TEST_ASSERT_EQUAL_MEMORY(expected.data(), actual.data(), expected.size() * sizeof(float));
      }
    }
    TEST_ASSERT_EQUAL_UINT32(tensor->rows(), row);
  }
}

TEST("SmolLM2 agrees with its f32 self at 99 % of the steps that are not close calls") {
  SKIP_WITHOUT(test::fetched_model(kGguf));
  Machine exact("f32"), quantized("");
  uint32_t steps = 0, clear = 0, equal = 0;
  for (const auto& question : kQuestions) {
    exact.start(prompt_of(question));
    quantized.start(prompt_of(question));
    for (uint32_t i = 0; i < kAnswerTokens; ++i, ++steps) {
      const TopTwo expected = exact.best();
      if (expected.gap > 0.5f) {
        ++clear;
        equal += quantized.best().id == expected.id;
      }
      exact.feed(expected.id);
      quantized.feed(expected.id);
    }
  }
  WARN("same top token at " << equal << " of " << clear << " clear steps of " << steps);
  TEST_ASSERT_GREATER_THAN(steps / 2, clear);
  TEST_ASSERT_GREATER_OR_EQUAL(0.99 * clear, equal);
}
