// SPDX-License-Identifier: Apache-2.0
#include "kernels/trimmed_build.h"
#include "runtime/text/opener.h"

namespace mote {
namespace {

/// Says whether a code point is a character: the results of normalization must be UTF-8 again.
bool is_character(uint32_t code_point) {
  return code_point <= kSameCharacter && (code_point < 0xD800 || code_point > 0xDFFF);
}

void open_texts(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  t->segment_prefix = string_table(root.segment_prefix());
  t->piece_prefix = string_table(root.piece_prefix());
  t->piece_prefix_rule = root.piece_prefix_rule();
  opener->expect(t->segment_prefix.count <= kMaxPrefixBytes && t->piece_prefix.count <= kMaxPrefixBytes,
                 "prefix", "too long");
  t->prefix_depth = root.prefix_depth();
  opener->expect(t->prefix_depth <= t->splitter_count, "prefix_depth", "past the splitters");
  opener->expect(t->piece_prefix_rule <= file::PrefixRule::MAX, "piece_prefix_rule", "unknown");
  t->replacement_count = size_of(root.replacements());
  if (!opener->expect(t->replacement_count <= kMaxReplacements, "replacements", "too many")) return;
  for (uint32_t i = 0; i < t->replacement_count; ++i) {
    const file::Replacement* replacement = root.replacements()->Get(i);
    ReplacementView& view = t->replacements[i];
    view = {string_table(replacement->from()), string_table(replacement->to())};
    opener->expect(view.from.count != 0 && view.from.count <= kMaxReplacementBytes &&
                       view.to.count <= kMaxReplacementBytes,
                   "replacements", "empty or too long");
  }
}

void open_canonical(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  if (!opener->table(root.combining(), "combining", &t->combining) ||
      !opener->table(root.compositions(), "compositions", &t->compositions)) {
    return;
  }
  for (uint32_t i = 0; i < t->combining.count; ++i) {
    const CombiningRange& range = t->combining[i];
    const bool ascends = range.first <= range.last && (i == 0 || t->combining[i - 1].last < range.first);
    if (!opener->expect(ascends && range.combining_class <= UINT8_MAX, "combining", "not ascending")) return;
  }
  for (uint32_t i = 0; i < t->compositions.count; ++i) {
    const Composition& c = t->compositions[i];
    const bool ascends =
        i == 0 || t->compositions[i - 1].first < c.first ||
        (t->compositions[i - 1].first == c.first && t->compositions[i - 1].second < c.second);
    const bool known = is_character(c.composed) && c.composed < kSameCharacter;
    if (!opener->expect(ascends && known, "compositions", "not ascending or no character")) return;
  }
}

void open_texts_of(const file::Normalizer& step, Opener* opener, NormalizerView* view) {
  if (!opener->table(step.text_offsets(), "text_offsets", &view->text_offsets) ||
      !opener->table(step.text(), "text", &view->text)) {
    return;
  }
  const uint32_t texts = view->text_offsets.count == 0 ? 0 : view->text_offsets.count - 1;
  if (!opener->expect(texts != 0 && are_offsets(view->text_offsets, texts, view->text.count), "text_offsets",
                      "not ascending")) {
    return;
  }
  // Only a map's texts stand for a character that can be the same.
  const uint32_t end = kSameCharacter + (step.kind() <= file::NormalizerKind::compose ? 1 : 0);
  for (uint32_t i = 0; i < view->text.count; ++i) {
    if (!opener->expect(is_character(view->text[i]) && view->text[i] < end, "text", "no character")) return;
  }
}

void open_map(const file::Normalizer& step, Opener* opener, NormalizerView* view) {
  if (!opener->table(step.blocks(), "blocks", &view->blocks) ||
      !opener->table(step.table(), "table", &view->table)) {
    return;
  }
  if (!opener->expect(view->blocks.count == kClassBlocks, "blocks", "not one for each 256 code points"))
    return;
  for (uint32_t i = 0; i < view->blocks.count; ++i) {
    if (!opener->expect(view->blocks[i] < view->table.count / kClassBlockSize, "blocks", "no such block"))
      return;
  }
  for (uint32_t i = 0; i < view->table.count; ++i) {
    if (!opener->expect(view->table[i] < view->text_offsets.count - 1, "table", "no such text")) return;
  }
}

void open_normalizer(const file::Normalizer& step, Opener* opener, const Tokenizer& t, NormalizerView* view) {
  using Kind = file::NormalizerKind;
  view->kind = step.kind();
  view->left = step.left();
  view->right = step.right();
  if (!opener->expect(view->kind <= Kind::MAX, "normalizers", "of an unknown kind") ||
      view->kind == Kind::strip) {
    return;
  }
  open_texts_of(step, opener, view);
  if (opener->status() != MOTE_OK) return;
  if (view->kind <= Kind::compose) return open_map(step, opener, view);
  if (view->kind == Kind::clusters || view->kind == Kind::longest) {
    open_trie(step.trie(), "trie", view->text_offsets.count - 1, opener, &view->trie);
  }
  if (view->kind == Kind::longest) return;
  if (opener->expect(step.matcher() != nullptr, "matcher", "missing")) {
    open_splitter(*step.matcher(), opener, t, &view->matcher);
  }
}

}  // namespace

void open_normalization(const file::Tokenizer& root, Opener* opener, Tokenizer* t) {
  open_texts(root, opener, t);
  if (!MOTE_TEXT_NORMALIZERS) return;
  open_canonical(root, opener, t);
  if (root.normalizers() == nullptr || opener->status() != MOTE_OK) return;
  t->normalizer_count = root.normalizers()->size();
  if (!opener->expect(t->normalizer_count <= kMaxNormalizers, "normalizers", "too many")) return;
  for (uint32_t i = 0; i < t->normalizer_count && opener->status() == MOTE_OK; ++i) {
    open_normalizer(*root.normalizers()->Get(i), opener, *t, &t->normalizers[i]);
  }
}

}  // namespace mote
