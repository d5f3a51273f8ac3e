// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <string_view>

#include "converter/onnx/piper_graph.h"

namespace mote::convert {
namespace {

/// A part of a name, `#` being a number that the same number, half of it, or half of the next one stands for.
struct Renamed {
  std::string_view from, to;
  enum class Number : uint8_t { same, half, half_of_next } number = Number::same;
};

constexpr Renamed kStarts[] = {
    {"enc_p.emb", "text_encoder.embed_tokens"},
    {"enc_p.proj", "text_encoder.project"},
    {"enc_p.encoder.attn_layers.#.conv_q", "text_encoder.encoder.layers.#.attention.q_proj"},
    {"enc_p.encoder.attn_layers.#.conv_k", "text_encoder.encoder.layers.#.attention.k_proj"},
    {"enc_p.encoder.attn_layers.#.conv_v", "text_encoder.encoder.layers.#.attention.v_proj"},
    {"enc_p.encoder.attn_layers.#.conv_o", "text_encoder.encoder.layers.#.attention.out_proj"},
    {"enc_p.encoder.attn_layers.#", "text_encoder.encoder.layers.#.attention"},
    {"enc_p.encoder.norm_layers_1.#", "text_encoder.encoder.layers.#.layer_norm"},
    {"enc_p.encoder.norm_layers_2.#", "text_encoder.encoder.layers.#.final_layer_norm"},
    {"enc_p.encoder.ffn_layers.#", "text_encoder.encoder.layers.#.feed_forward"},
    {"dp.flows.0.m", "duration_predictor.flows.0.translate"},
    {"dp.flows.0.logs", "duration_predictor.flows.0.log_scale"},
    {"dp.flows.#.convs", "duration_predictor.flows.#.conv_dds", Renamed::Number::half_of_next},
    {"dp.flows.#.pre", "duration_predictor.flows.#.conv_pre", Renamed::Number::half_of_next},
    {"dp.flows.#.proj", "duration_predictor.flows.#.conv_proj", Renamed::Number::half_of_next},
    {"dp.convs", "duration_predictor.conv_dds"},
    {"dp.pre", "duration_predictor.conv_pre"},
    {"dp.proj", "duration_predictor.conv_proj"},
    {"dp.cond", "duration_predictor.cond"},
    {"flow.flows.#.pre", "flow.flows.#.conv_pre", Renamed::Number::half},
    {"flow.flows.#.post", "flow.flows.#.conv_post", Renamed::Number::half},
    {"flow.flows.#.enc", "flow.flows.#.wavenet", Renamed::Number::half},
    {"dec.ups", "decoder.upsampler"},
    {"dec", "decoder"},
    {"emb_g", "embed_speaker"},
};
/// Parts that are renamed in the rest of a name, wherever they stand in it.
constexpr Renamed kParts[] = {{".convs_sep.", ".convs_dilated."},
                              {".convs_1x1.", ".convs_pointwise."},
                              {".gamma", ".weight"},
                              {".beta", ".bias"}};

/// Returns how many characters of a name a start takes, and its number; 0 where it is another.
size_t match(std::string_view start, std::string_view name, uint32_t& number) {
  const size_t mark = start.find('#');
  if (mark == std::string_view::npos) return name.starts_with(start) ? start.size() : 0;
  if (!name.starts_with(start.substr(0, mark))) return 0;
  const auto read = std::from_chars(name.data() + mark, name.data() + name.size(), number);
  const auto at = static_cast<size_t>(read.ptr - name.data());
  const std::string_view behind = start.substr(mark + 1);
  return read.ec == std::errc() && name.substr(at).starts_with(behind) ? at + behind.size() : 0;
}

}  // namespace

std::string piper_to_hf(const std::string& name) {
  for (const Renamed& start : kStarts) {
    uint32_t number = 0;
    const size_t taken = match(start.from, name, number);
    if (taken == 0 || (taken < name.size() && name[taken] != '.')) continue;
    if (start.number == Renamed::Number::half && number % 2 != 0) return "";
    if (start.number == Renamed::Number::half_of_next && number % 2 != 1) return "";
    if (start.number != Renamed::Number::same) number = (number + 1) / 2;
    std::string result(start.to);
    if (const size_t mark = result.find('#'); mark != std::string::npos)
      result.replace(mark, 1, std::to_string(number));
    std::string rest = name.substr(taken);
    for (const Renamed& part : kParts) {
      if (const size_t at = rest.find(part.from); at != std::string::npos)
        rest.replace(at, part.from.size(), part.to);
    }
    return result + rest;
  }
  return "";
}

}  // namespace mote::convert
