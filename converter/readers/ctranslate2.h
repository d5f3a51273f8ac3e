// SPDX-License-Identifier: Apache-2.0
//
// CTranslate2's model.bin: a version, the name and revision of a specification, then variables and aliases by
// name. The variables' names become those of Hugging Face by a table for each specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// In the order of the file's codes.
enum class Ct2Type : uint8_t { f32, i8, i16, i32, f16, bf16 };

struct Ct2Variable {
  Ct2Type type;
  std::vector<uint64_t> shape;       // outermost first, empty for a scalar
  std::span<const std::byte> bytes;  // dense, any alignment
};

struct Ct2File {
  uint64_t bytes = 0;
  uint32_t version = 0, revision = 0;
  std::string spec;                              // "TransformerSpec"
  std::map<std::string, Ct2Variable> variables;  // aliases too, with their scales
};

/// Says whether the bytes start with the header of a version that is read.
bool is_ctranslate2(std::span<const std::byte> file);

/// Every length and offset checked. `where` names the file in messages. Throws Error.
Ct2File parse_ctranslate2(std::span<const std::byte> file, const std::string& where);

/// The source of a parsed file. `settings` are config.json's, an object; `tokens` the one vocabulary, by id,
/// empty where there is none. Tensors point into the file's bytes. Throws Error.
Source translate_ctranslate2(const Ct2File& file, const nlohmann::json& settings,
                             const std::vector<std::string>& tokens, const std::string& where);

// ---- Of the translation's files ----

/// Takes attributes and weights, each at most once, and knows what was not taken.
class Ct2Variables {
 public:
  Ct2Variables(const Ct2File& file, std::string where) : file_(file), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& text) const;

  const std::map<std::string, Ct2Variable>& all() const { return file_.variables; }
  bool has(const std::string& name) const { return file_.variables.count(name) != 0; }
  /// A scalar, or `fallback` where it is absent; without one it must be there.
  double number(const std::string& name, std::optional<double> fallback = std::nullopt);
  /// A text, kept as a vector of bytes.
  std::string text(const std::string& name, const std::string& fallback);
  const Ct2Variable& weight(const std::string& name);
  /// The weight with what scales it, as a tensor of the source.
  SourceTensor tensor(const std::string& name);
  /// Both names stand for the same numbers.
  bool same(const std::string& name, const std::string& other) const;
  void ignore(const std::string& name) { taken_[name] = true; }
  /// Refuses a variable that was not taken.
  void finish() const;

 private:
  const Ct2File& file_;
  std::string where_;
  std::map<std::string, bool> taken_;
};

/// Rows [first, first + count) of a matrix, or elements of a vector.
SourceTensor ct2_part(const SourceTensor& whole, uint64_t first, uint64_t count);

/// Puts the rows between `before` and `behind` rows of zeros.
SourceTensor ct2_padded(const SourceTensor& rows, uint64_t before, uint64_t behind);

/// A tensor of these values.
SourceTensor ct2_values(std::vector<uint64_t> shape, std::vector<float> values);

/// All values of a tensor.
std::vector<float> ct2_read(const SourceTensor& tensor);

enum class Ct2Family : uint8_t { bart, t5, whisper };

/// Puts the weights of layers, norms and convolutions under Hugging Face's names into `source`.
void ct2_rename(Ct2Variables& variables, Ct2Family family, Source& source);

}  // namespace mote::convert
