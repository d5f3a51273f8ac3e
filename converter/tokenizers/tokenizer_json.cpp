// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/tokenizer_json.h"
#include "converter/tokenizers/json_values.h"

#include "converter/tokenizers/split_rewrites.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"

namespace mote::convert {
TokenizerSpec read_tokenizer_json(const nlohmann::json& root, const std::string& where, DecoderNeed need) {
  const JsonValues values(where);
  TokenizerDraft draft;
  read_normalizers(values, root, draft);
  read_pre_tokenizers(values, root, draft);
  read_token_model(values, root, draft);
  read_decoders(values, root, draft, need);
  read_post_processors(values, root, draft);
  fuse_splits(draft.spec.splits, draft.spec.prefix_depth);
  if (draft.spec.splits.empty() && draft.spec.model == ModelSpec::bpe && !draft.byte_level) {
    split_at_sign(draft.spec, draft.vocabulary, kSpaceSign);
  }
  return std::move(draft.spec);
}

TokenizerSpec read_tokenizer_json(std::span<const std::byte> file, const std::string& where) {
  const WorkBudget budget(where, file.size());
  return read_tokenizer_json(parse_json_object(file, where, kTokenizerJsonDepth), where);
}

}  // namespace mote::convert
