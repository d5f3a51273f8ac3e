// SPDX-License-Identifier: Apache-2.0
//
// The steps of normalization that files spell out, as the runtime takes them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/tokenizers/character_map.h"
#include "converter/tokenizers/regex.h"

namespace mote::convert {

enum class NormalizerKind : uint8_t {  // file::NormalizerKind
  map,
  decompose,
  compose,
  clusters,
  replace,
  strip,
  longest
};

struct NormalizerSpec {
  NormalizerKind kind;
  std::optional<CharacterMap> map;             // map, decompose, compose
  std::map<std::string, std::u32string> keys;  // clusters, longest: UTF-8 to text
  RegexPtr matcher;                            // clusters, replace
  std::u32string content;                      // replace
  bool left = false, right = false;            // strip; left of longest: spaces
};

/// NFC and NFKC (`compose`), NFD and NFKD.
NormalizerSpec canonical_form(bool compatible, bool compose);

/// A step that maps characters one by one; it becomes part of the last one if that does so too.
void add_map(std::vector<NormalizerSpec>& steps, const CharacterMap& map);

struct BertOptions {
  bool clean = true, spaced_ideographs = true, strip_accents = true, lowercase = true;
};
void add_bert_steps(std::vector<NormalizerSpec>& steps, const BertOptions& options);

/// SentencePiece's precompiled map: the length of a double array, the array, the texts. Throws Error where
/// the bytes are none.
NormalizerSpec precompiled_map(const std::string& bytes);

/// Returns the map as SentencePiece itself runs it; where there are no bytes, it has no keys. `spaces`: it
/// leaves out spaces at the ends and makes several one.
NormalizerSpec sentence_piece_map(const std::string& bytes, bool spaces);

/// Where text may be cut and normalized part by part: between a character that closes and one that opens.
struct Cuts {
  CharSet opens, closes;
};
Cuts find_cuts(const std::vector<NormalizerSpec>& steps);

}  // namespace mote::convert
