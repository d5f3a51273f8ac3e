// SPDX-License-Identifier: Apache-2.0
#include "converter/layers/mixture.h"

#include <limits>
#include <utility>

#include "host/base/error.h"

namespace mote::convert {
namespace {

std::string of_expert(std::string name, uint32_t expert) {
  const size_t mark = name.find("[]");
  return mark == std::string::npos ? name : name.replace(mark, 2, std::to_string(expert));
}

class MixtureBuilder {
 public:
  MixtureBuilder(TransformerBuilder& builder, const LayerSpec& layer, const MixtureSpec& spec)
      : builder_(builder),
        layer_(layer),
        spec_(spec),
        prefix_(prefix_of(layer)),
        width_(builder.x().width),
        // Each slot begins with a supercell.
        slot_width_(static_cast<uint32_t>(align_up(spec.width, kSupercellColumns))) {}

  /// The mixture of `in`, [tokens, width].
  View output(BlockInput& in) {
    const View routes = route(in);
    const View out = builder_.new_value(width_, Unit::token);
    const bool shares = spec_.shared.width != 0;
    if (shares) shared(in, out);
    BlockInput inner{inner_of(in, routes)};
    multiply("down", inner, routes, out, true, shares ? std::optional<View>(out) : std::nullopt);
    return out;
  }

 private:
  std::string name(const std::string& pattern) const { return of_layer(pattern, layer_); }

  View route(BlockInput& in) {
    const View logits = builder_.new_value(spec_.experts, Unit::token);
    const View routes = builder_.new_value(spec_.experts, Unit::token);
    builder_.linears(prefix_, in,
                     {builder_.projection("router", name(spec_.router), spec_.experts, in.f32.width,
                                          Role::fine, spec_.router_bias)},
                     logits, Activation::none, std::nullopt);
    const int32_t bias =
        spec_.selection_bias.empty()
            ? -1
            : builder_.add_vector(prefix_ + "router.selection",
                                  builder_.tensors().vector(name(spec_.selection_bias), spec_.experts));
    builder_.add(RouteNode{spec_.scores, spec_.chosen, spec_.groups, spec_.groups_chosen, spec_.normalized,
                           spec_.eps, spec_.factor, bias, logits, routes});
    return routes;
  }

  /// activation(gate) * up of the chosen experts, one behind the other.
  View inner_of(BlockInput& in, View routes) {
    const uint32_t all = spec_.chosen * slot_width_;
    const View gate = builder_.new_value(all, Unit::token), up = builder_.new_value(all, Unit::token);
    multiply("gate", in, routes, gate, false, std::nullopt);
    multiply("up", in, routes, up, false, std::nullopt);
    if (spec_.limit != 0.0f) {  // up has its 1 already
      builder_.add(ClampNode{-std::numeric_limits<float>::max(), spec_.limit, gate, gate});
      builder_.add(ClampNode{1.0f - spec_.limit, 1.0f + spec_.limit, up, up});
    }
    builder_.add(GateNode{spec_.activation, gate, up, gate});
    return gate;
  }

  WeightPart part(const std::string& label, uint32_t expert) {
    const bool down = label == "down", up = label == "up";
    const uint32_t rows = down ? width_ : spec_.width, cols = down ? spec_.width : width_;
    TensorSet& tensors = builder_.tensors();
    if (spec_.layout == MixtureSpec::Layout::each) {
      return tensors.matrix(of_expert(name(pattern_of(label)), expert) + ".weight", rows, cols, false);
    }
    const bool pairs = spec_.layout == MixtureSpec::Layout::pairs;
    if (down) return tensors.slice(name(spec_.down), expert, spec_.experts, rows, cols, pairs);
    WeightPart both = tensors.slice(name(spec_.gate), expert, spec_.experts, 2 * rows, cols, pairs);
    both.rows = rows;
    both.first_row = !up ? 0 : pairs ? 1 : rows;
    both.row_step = pairs ? 2 : 1;
    return both;
  }

  const std::string& pattern_of(const std::string& label) const {
    return label == "down" ? spec_.down : label == "up" ? spec_.up : spec_.gate;
  }

  /// The biases of all experts, `rows` of each.
  std::vector<float> stored_biases(const std::string& label, uint32_t rows) {
    std::vector<float> values;
    if (spec_.layout == MixtureSpec::Layout::each) {
      for (uint32_t e = 0; e < spec_.experts; ++e) {
        const std::vector<float> own =
            builder_.tensors().vector(of_expert(name(pattern_of(label)), e) + ".bias", rows);
        values.insert(values.end(), own.begin(), own.end());
      }
      return values;
    }
    const bool down = label == "down";
    const uint32_t step = down ? 1 : 2, first = label == "up" ? 1 : 0;
    const std::vector<float> stored =
        builder_.tensors().table(name(down ? spec_.down : spec_.gate) + "_bias", spec_.experts, step * rows);
    for (size_t i = first; i < stored.size(); i += step) values.push_back(stored[i]);
    return values;
  }

  /// Adds the biases of all experts, each padded to rows_of_one; returns -1 for none.
  int32_t bias(const std::string& label, uint32_t rows, uint32_t rows_of_one) {
    if (spec_.layout != MixtureSpec::Layout::pairs && !spec_.biases) return -1;
    const std::vector<float> stored = stored_biases(label, rows);
    const float plus = label == "up" ? 1.0f : 0.0f;  // the 1 of (1 + up)
    std::vector<float> values(size_t{spec_.experts} * rows_of_one);
    for (size_t e = 0; e < spec_.experts; ++e) {
      for (size_t row = 0; row < rows; ++row) values[e * rows_of_one + row] = stored[e * rows + row] + plus;
    }
    return builder_.add_vector(prefix_ + "experts." + label + ".bias", std::move(values));
  }

  void multiply(const std::string& label, BlockInput& in, View routes, View out, bool sums,
                std::optional<View> residual) {
    const bool down = label == "down";
    const uint32_t rows = down ? width_ : spec_.width;
    const uint32_t rows_of_one = static_cast<uint32_t>(align_up(down ? width_ : slot_width_, kPanelRows));
    std::vector<WeightPart> parts;
    for (uint32_t expert = 0; expert < spec_.experts; ++expert) {
      parts.push_back(part(label, expert));
      if (rows < rows_of_one) parts.push_back({"", nullptr, false, rows_of_one - rows});
    }
    const DType dtype = builder_.policy().dtype(Role::experts, *parts[0].tensor);
    const View input = builder_.input_for(builder_.rounded_for(in, parts), dtype);
    const int32_t weight = builder_.add_matrix(prefix_ + "experts." + label, dtype, false,
                                               down ? slot_width_ : width_, std::move(parts));
    builder_.add(ExpertsNode{spec_.chosen, weight, bias(label, rows, rows_of_one), Activation::none, sums,
                             routes, input, out, residual});
  }

  /// The shared expert's output, to `out`.
  void shared(BlockInput& in, View out) {
    const uint32_t width = spec_.shared.width;
    const View both = builder_.new_value(2 * width, Unit::token), inner = columns(both, 0, width);
    const auto project = [&](const char* label, const std::string& pattern) {
      return builder_.projection(label, name(pattern), width, in.f32.width, Role::matrix, spec_.shared.bias);
    };
    if (spec_.shared_up.empty()) {  // gate and up in one matrix
      builder_.linears(prefix_, in,
                       {builder_.projection("shared", name(spec_.shared_gate), 2 * width, in.f32.width,
                                            Role::matrix, spec_.shared.bias)},
                       both, Activation::none, std::nullopt);
    } else {
      builder_.linears(prefix_, in,
                       {project("shared_gate", spec_.shared_gate), project("shared_up", spec_.shared_up)},
                       both, Activation::none, std::nullopt);
    }
    builder_.add(GateNode{spec_.shared.activation, inner, columns(both, width, width), inner});
    BlockInput product{inner};
    builder_.linears(prefix_, product,
                     {builder_.projection("shared_down", name(spec_.shared_down), width_, width, Role::matrix,
                                          spec_.shared.bias)},
                     out, Activation::none, std::nullopt);
    if (spec_.shared_router.empty()) return;
    const View gate = builder_.new_value(1, Unit::token);
    builder_.linears(
        prefix_, in,
        {builder_.projection("shared_router", name(spec_.shared_router), 1, in.f32.width, Role::fine, false)},
        gate, Activation::none, std::nullopt);
    builder_.add(GateNode{Activation::sigmoid, gate, out, out});
  }

  TransformerBuilder& builder_;
  const LayerSpec& layer_;
  const MixtureSpec& spec_;
  std::string prefix_;
  uint32_t width_, slot_width_;
};

}  // namespace

void mixture(TransformerBuilder& builder, const LayerSpec& layer, const MixtureSpec& spec) {
  const BranchNorms& norms = layer.names.ffn_norms;
  BlockInput in = builder.branch_input(layer, norms, "ffn");
  const View out = MixtureBuilder(builder, layer, spec).output(in);
  builder.add_output(layer, norms, "ffn", out);
}

}  // namespace mote::convert
