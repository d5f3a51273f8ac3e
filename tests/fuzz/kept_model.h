// SPDX-License-Identifier: Apache-2.0
//
// The model of the target `restore`: a decoder whose first cache slides and whose second keeps
// all. It never changes, so that kept snapshots stay what they are.
#pragma once

#include "tests/support/any_session.h"
#include "tests/support/graph_file.h"

namespace fuzz {

inline const test::AlignedBytes& kept_file() {
  using namespace mote::convert;
  static const test::AlignedBytes file = test::decoder_file(16, 600, [](Graph& graph, const View& x) {
    const View y{static_cast<uint32_t>(graph.values.size()), 0, 16};
    graph.values.push_back({16, mote::DType::f32, Unit::token});
    graph.caches = {{2, 4, 20}, {2, 4, 0}};
    graph.nodes.push_back(KvStoreNode{0, {x.value, 0, 8}, {x.value, 8, 8}});
    graph.nodes.push_back(AttentionNode{0, 4, 0.5f, x, y});
    graph.nodes.push_back(KvStoreNode{1, {y.value, 0, 8}, {y.value, 8, 8}});
    graph.nodes.push_back(AttentionNode{1, 4, 0.5f, y, x});
  });
  return file;
}

inline const mote_model* kept_model() {
  static const mote_model* const model = [] {
    static const test::AlignedBytes storage(mote_model_bytes());
    mote_model* opened = nullptr;
    mote_error error{};
    test::must(mote_model_open(kept_file().data(), kept_file().size(), 0, storage.data(), storage.size(),
                               &opened, &error) == MOTE_OK);
    return opened;
  }();
  return model;
}

}  // namespace fuzz
