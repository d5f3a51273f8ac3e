// SPDX-License-Identifier: Apache-2.0
//
// Writes small GGUF files, right or wrong, into memory.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace mote::testing {

/// The bytes of a number.
template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

class GgufBuilder {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;

  static std::string string(const std::string& text) { return raw<uint64_t>(text.size()) + text; }

  /// A key with a value given as bytes.
  GgufBuilder& key(const std::string& name, uint32_t type, const std::string& value) {
    keys_ += string(name) + raw(type) + value;
    ++key_count_;
    return *this;
  }
  GgufBuilder& key(const std::string& name, const char* value) { return key(name, 8, string(value)); }
  GgufBuilder& key(const std::string& name, uint32_t value) { return key(name, 4, raw(value)); }
  GgufBuilder& key(const std::string& name, float value) { return key(name, 6, raw(value)); }
  GgufBuilder& key(const std::string& name, bool value) { return key(name, 7, raw<uint8_t>(value)); }

  /// `dims` innermost first. The data follows the tensor before it, aligned.
  GgufBuilder& tensor(const std::string& name, std::vector<uint64_t> dims, uint32_t type,
                      const std::string& data) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment, '\0');
    tensor_at(name, dims, type, data_.size());
    data_ += data;
    return *this;
  }
  GgufBuilder& tensor_at(const std::string& name, std::vector<uint64_t> dims, uint32_t type,
                         uint64_t offset) {
    infos_ += string(name) + raw(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) infos_ += raw(dim);
    infos_ += raw(type) + raw(offset);
    ++tensor_count_;
    return *this;
  }
  GgufBuilder& vector(const std::string& name, const std::vector<float>& values) {
    return tensor(name, {values.size()}, 0, bytes_of(values));
  }
  GgufBuilder& matrix(const std::string& name, uint64_t rows, uint64_t cols,
                      const std::vector<float>& values) {
    return tensor(name, {cols, rows}, 0, bytes_of(values));
  }
  /// A matrix for each of `count`.
  GgufBuilder& stack(const std::string& name, uint64_t count, uint64_t rows, uint64_t cols,
                     const std::vector<float>& values) {
    return tensor(name, {cols, rows, count}, 0, bytes_of(values));
  }

  std::string bytes() const {
    std::string file = "GGUF" + raw(version) + raw(tensor_count_) + raw(key_count_) + keys_ + infos_;
    file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
    return file + data_;
  }

 private:
  static std::string bytes_of(const std::vector<float>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }

  std::string keys_, infos_, data_;
  uint64_t key_count_ = 0, tensor_count_ = 0;
};

/// The metadata of a llama of one layer and 2 heads over 1, with a context of 64.
inline GgufBuilder one_layer_llama(uint32_t width, uint32_t feed_forward) {
  GgufBuilder file;
  file.key("general.architecture", "llama").key("llama.embedding_length", width);
  file.key("llama.block_count", uint32_t{1}).key("llama.feed_forward_length", feed_forward);
  file.key("llama.context_length", uint32_t{64}).key("llama.attention.head_count", uint32_t{2});
  file.key("llama.attention.head_count_kv", uint32_t{1});
  file.key("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  return file;
}

}  // namespace mote::testing
