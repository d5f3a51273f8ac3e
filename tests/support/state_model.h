// SPDX-License-Identifier: Apache-2.0
//
// Models whose layers carry states of a fixed size.
#pragma once

#include "tests/support/state_layers.h"
#include "tests/support/test_model.h"

namespace test {

/// A model that says its name in failures.
struct StateModel {
  const char* name;
  AlignedBytes file;
  OpenModel model;
  StateModel(const char* called, const std::vector<Mixer>& mixers)
      : name(called), file(state_file(mixers)), model(file) {}
};

inline const std::vector<std::unique_ptr<StateModel>>& state_models() {
  static const auto models = [] {
    std::vector<std::unique_ptr<StateModel>> all;
    const auto add = [&](const char* name, const std::vector<Mixer>& mixers) {
      all.push_back(std::make_unique<StateModel>(name, mixers));
    };
    add("conv", {Mixer::conv, Mixer::conv});
    add("conv and attention", {Mixer::conv, Mixer::attention, Mixer::conv});
    add("conv and scan", {Mixer::conv, Mixer::ssm});
    add("selective scan", {Mixer::conv, Mixer::selective});
    add("delta and attention", {Mixer::conv, Mixer::delta, Mixer::attention});
    add("cell and linear attention", {Mixer::cell, Mixer::linear});
    add("all", {Mixer::delta, Mixer::ssm, Mixer::attention, Mixer::selective, Mixer::conv});
    return all;
  }();
  return models;
}

}  // namespace test
