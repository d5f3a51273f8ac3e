// SPDX-License-Identifier: Apache-2.0
//
// What opening a file and making a session cost grows at most as the file does.
#include <functional>
#include <nlohmann/json.hpp>

#include "converter/tokenizers/tables.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "tests/support/count_blocks.h"
#include "tests/support/source_model.h"
#include "tests/support/state_layers.h"
#include "tests/support/thread_pool.h"

namespace {

using namespace mote::convert;
using test::AlignedBytes;

/// A file, opened.
class Opened {
 public:
  explicit Opened(const AlignedBytes& file) : storage_(mote_model_bytes()) {
    mote_error error{};
    const mote_status status = mote_model_open(file.data(), file.size(), MOTE_OPEN_CHECK_HASHES,
                                               storage_.data(), storage_.size(), &model_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  const mote_model* get() const { return model_; }

 private:
  AlignedBytes storage_;
  mote_model* model_ = nullptr;
};

void open(const AlignedBytes& file) { Opened{file}; }

const test::ThreadPool& pool() {
  static const test::ThreadPool kPool(64);
  return kPool;
}

/// An opened file, and an arena for the session that `options` describe.
struct Scene {
  AlignedBytes file;
  Opened model;
  mote_session_options options;
  AlignedBytes arena;

  template <class Change>
  Scene(AlignedBytes bytes, const Change& change)
      : file(std::move(bytes)), model(file), options(mote_session_options_default(model.get())) {
    options.platform = pool().platform();
    options.threads = 2;
    options.context = std::min<uint32_t>(options.context, 64);
    change(&options);
    arena = AlignedBytes(mote_session_bytes(model.get(), &options));
  }
};

void init(const Scene& scene) {
  mote_session* session = nullptr;
  mote_error error{};
  const mote_status status = mote_session_init(scene.model.get(), &scene.options, scene.arena.data(),
                                               scene.arena.size(), &session, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
}

/// Both of files that make(n) gives.
template <class Make>
void check_open_and_init(uint64_t n, const Make& make) {
  test::check_growth(n, make, open);
  test::check_growth(
      n, [&](uint64_t size) { return Scene(make(size), [](mote_session_options*) {}); }, init);
}

/// An encoder that gives each sequence a number for each of so many labels.
Graph labelled_graph(uint32_t labels) {
  constexpr uint32_t kVocab = 16, kWidth = 16;
  Graph graph = test::bare_graph(kVocab, kWidth, 1 << 16);
  graph.output_kind = OutputKind::sequence_labels;
  test::ProgramMaker maker(graph, graph);
  const View x = maker.value(kWidth), pooled = maker.value(kWidth, Unit::sequence);
  maker.add(EmbedNode{maker.weight("table", kVocab, kWidth), x});
  maker.add(PoolNode{mote::PoolKind::mean, x, pooled});
  graph.output = maker.linear("head", pooled, labels, Unit::sequence);
  for (uint32_t i = 0; i < labels; ++i) graph.labels.push_back("label" + std::to_string(i));
  return graph;
}

/// A decoder with `programs` sources, whose rows it keeps in a state each.
Graph many_sources(uint32_t programs) {
  Graph graph = test::source_graph(test::SourceRows::ids, false);
  const ProgramGraph encode = graph.more_programs[0];
  for (uint32_t i = 1; i < programs; ++i) {
    const auto state = static_cast<uint32_t>(graph.caches.size());
    Cache kept = graph.caches[1];
    kept.source = static_cast<int32_t>(i + 1);
    graph.caches.push_back(kept);
    graph.more_programs.push_back(encode);
    std::get<KvStoreNode>(graph.more_programs.back().nodes.back()).cache = state;
  }
  return graph;
}

/// A file of a small decoder with a tokenizer.
AlignedBytes with_tokenizer(const nlohmann::json& root) {
  const std::string text = root.dump();
  const TokenizerTables tables(read_tokenizer_json(std::as_bytes(std::span(text)), "tokenizer.json"));
  Graph graph = test::bare_graph(tables.tokens() + 1000, 16, 64);
  test::ProgramMaker maker(graph, graph);
  const View x = maker.value(16), selected = maker.value(16, Unit::selected);
  maker.add(EmbedNode{maker.weight("table", graph.vocab, 16), x});
  maker.add(SelectNode{x, selected});
  graph.output = maker.linear("table", selected, graph.vocab, Unit::selected);
  return test::graph_file(
      graph, "decoder", [](size_t, std::byte*) {}, {},
      [&](Metadata& metadata) { metadata.tokenizer = &tables; });
}

std::string numbered(const char* text, uint64_t number) { return text + std::to_string(100'000 + number); }

}  // namespace

TEST("opening and making a session grow as the operations, tensors and states of each kind do") {
  using test::Mixer;
  const std::vector<Mixer> all = {Mixer::conv, Mixer::ssm,    Mixer::selective, Mixer::delta,
                                  Mixer::cell, Mixer::linear, Mixer::attention};
  check_open_and_init(8, [&](uint64_t n) {
    std::vector<Mixer> layers;
    for (uint64_t i = 0; i < n; ++i) layers.insert(layers.end(), all.begin(), all.end());
    return test::state_file(layers);
  });
  check_open_and_init(100,
                      [](uint64_t n) { return test::state_file(std::vector<Mixer>(n, Mixer::attention)); });
}

TEST("opening and making a session grow as the operations do that all work on one state") {
  check_open_and_init(500, [](uint64_t n) {
    return test::decoder_file(16, 64, [&](Graph& graph, const View& x) {
      graph.caches = {{1, 16, 0}};
      for (uint64_t i = 0; i < n; ++i) graph.nodes.push_back(ScaleRowsNode{x, x});  // before what is kept
      graph.nodes.push_back(KvStoreNode{0, x, x});
      for (uint64_t i = 0; i < n; ++i) {
        graph.nodes.push_back(AttentionNode{0, 1, 0.25f, x, test::add_value(graph, 16)});
        graph.nodes.push_back(KvStoreNode{0, x, x});
      }
    });
  });
  check_open_and_init(500, [](uint64_t n) {
    Graph graph = test::source_graph(test::SourceRows::pairs, false);
    test::ProgramMaker decode(graph, graph);
    const Node select = graph.nodes[graph.nodes.size() - 2], head = graph.nodes.back();
    graph.nodes.resize(graph.nodes.size() - 2);
    const View x = std::get<EmbedNode>(graph.nodes[0]).out;
    for (uint64_t i = 0; i < n; ++i)
      graph.nodes.push_back(AttentionNode{1, 2, 0.9f, x, test::add_value(graph, 16)});
    graph.nodes.push_back(select);
    graph.nodes.push_back(head);
    return test::graph_file(graph, "sources");
  });
}

TEST("opening and making a session grow as the programs do") {
  check_open_and_init(
      1, [](uint64_t n) { return test::graph_file(many_sources(static_cast<uint32_t>(n)), "sources"); });
}

TEST("tensors that share their bytes, whose hashes would cost more than the file, are refused") {
  const AlignedBytes file = test::decoder_file(16, 64, [](Graph&, const View&) {});
  mote_error error{};
  const auto change = [](uint64_t offset) {
    return [offset](mote::file::Model* model) {
      auto* tensors = model->mutable_tensors();
      for (uint32_t i = 0; i < tensors->size(); ++i) {
        tensors->GetMutableObject(i)->mutate_offset(i * offset);
        model->mutate_segment_bytes(i * offset + tensors->Get(i)->bytes());
      }
    };
  };
  REQUIRE(test::open_changed(AlignedBytes(file), &error, change(1024)) == MOTE_OK);
  REQUIRE(test::open_changed(AlignedBytes(file), &error, change(0)) == MOTE_CORRUPT_FILE);
  REQUIRE(test::says(error.text, "tensors overlap"));
}

TEST("opening grows as each list of a file does") {
  const auto check = [](uint64_t n, const std::function<void(uint64_t, Graph&, Metadata&)>& add) {
    check_open_and_init(n, [&](uint64_t size) {
      Graph graph = test::source_graph(test::SourceRows::ids, true);
      return test::graph_file(
          graph, "lists", [](size_t, std::byte*) {}, {},
          [&](Metadata& metadata) { add(size, graph, metadata); });
    });
  };
  check(500, [](uint64_t n, Graph&, Metadata& metadata) { metadata.stop_ids.assign(n, 1); });
  check(1000, [](uint64_t n, Graph&, Metadata& metadata) {
    for (uint64_t i = 0; i < n; ++i) metadata.prompts.push_back({numbered("p", i), numbered("text", i)});
    for (uint64_t i = 0; i < n; ++i) metadata.sources.push_back({numbered("file", i), i, i});
  });
  check(1000, [](uint64_t n, Graph& graph, Metadata&) {
    SpeechSpec speech;
    for (uint64_t i = 0; i < n; ++i) graph.languages.push_back({numbered("l", i), 1});
    speech.suppressed.assign(n, 2);
    speech.suppressed_first.assign(n, 3);
    graph.speech = speech;
  });
  check(1000, [](uint64_t n, Graph& graph, Metadata&) {
    for (uint64_t i = 0; i < n; ++i)
      graph.probes.push_back({numbered("x", i), 0, std::get<EmbedNode>(graph.nodes[0]).out});
  });
  check_open_and_init(
      1000, [](uint64_t n) { return test::graph_file(labelled_graph(static_cast<uint32_t>(n)), "labels"); });
  check_open_and_init(1000, [](uint64_t n) {
    const Graph graph = labelled_graph(2);
    return test::graph_file(
        graph, "test", [](size_t, std::byte*) {}, {},
        [&](Metadata& metadata) {
          metadata.self_test.ids.assign(n, 1);
          metadata.self_test.expected_logits.assign(2, 0.5f);
          metadata.has_self_test = true;
        });
  });
}

TEST("opening grows as each table of a tokenizer does") {
  using nlohmann::json;
  const json bytes = {{"type", "ByteFallback"}};
  const json bpe = {
      {"decoder", bytes},
      {"model", {{"type", "BPE"}, {"vocab", {{"<unk>", 0}, {"a", 1}, {"b", 2}}}, {"merges", json::array()}}}};
  test::check_growth(
      150,
      [&](uint64_t n) {
        json root = bpe;
        json& model = root["model"];
        std::string text = "a";
        for (uint64_t i = 0; i < n; ++i) {
          const std::string left(1, static_cast<char>('c' + i % 20)), right = numbered("b", i);
          if (!model["vocab"].contains(left)) model["vocab"][left] = model["vocab"].size();
          model["vocab"][right] = model["vocab"].size();
          model["vocab"][left + right] = model["vocab"].size();
          model["merges"].push_back(left + " " + right);
        }
        return with_tokenizer(root);
      },
      open);
  test::check_growth(
      150,
      [&](uint64_t n) {
        json root = bpe;
        for (uint64_t i = 0; i < n; ++i)
          root["added_tokens"].push_back(
              {{"id", 3 + i}, {"content", numbered("<s>", i)}, {"special", i % 2 == 0}});
        return with_tokenizer(root);
      },
      open);
  for (const char* type : {"WordPiece", "Unigram"}) {
    test::check_growth(
        150,
        [&](uint64_t n) {
          json model = {
              {"type", type}, {"unk_token", "<unk>"}, {"unk_id", 0}, {"max_input_chars_per_word", 100}};
          json map = {{"<unk>", 0}}, list = json::array({{"<unk>", 0.0}});
          for (uint64_t i = 0; i < n; ++i) {
            map[numbered("piece", i)] = 1 + i;
            list.push_back({numbered("piece", i), -1.0 - static_cast<double>(i)});
          }
          model["vocab"] = type[0] == 'W' ? map : list;
          return with_tokenizer({{"decoder", bytes}, {"model", model}});
        },
        open);
  }
  test::check_growth(
      30,
      [&](uint64_t n) {
        json root = bpe, steps = json::array();
        std::string regex = "x";
        for (uint64_t i = 0; i < n; ++i) regex += "|" + numbered("w", i);
        for (int i = 0; i < 3; ++i)
          steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", regex}}}, {"content", "b"}});
        root["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
        root["pre_tokenizer"] = {
            {"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
        return with_tokenizer(root);
      },
      open);
}

TEST("making a session grows as the rows, sequences and positions that it is for do") {
  using Change = void (*)(mote_session_options*, uint32_t);
  const Change changes[] = {
      [](mote_session_options* options, uint32_t n) { options->context = 64 * n; },
      [](mote_session_options* options, uint32_t n) { options->batch = options->logit_rows = n; },
      [](mote_session_options* options, uint32_t n) { options->chunk = options->context = 64 * n; },
      [](mote_session_options* options, uint32_t n) { options->threads = n; }};
  using test::Mixer;
  const AlignedBytes file = test::state_file({Mixer::attention, Mixer::conv, Mixer::delta}, 1 << 16);
  for (const Change change : changes) {
    test::check_growth(
        8,
        [&](uint64_t n) {
          return Scene(file,
                       [&](mote_session_options* options) { change(options, static_cast<uint32_t>(n)); });
        },
        init);
  }
}
