#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes models for the tests that need words: golden ones with a small tokenizer. text.mote is a decoder with a chat
# format and room for a conversation, embed.mote and classify.mote are encoders.
source "$(dirname "$0")/common.sh" "$@"

# make NAME GOLDEN [OPTION]...
make() {
  local here=$work/$1
  rm -rf "$here"
  mkdir -p "$here"
  cp -r "$source_dir/tests/golden/models/$2/." "$source_dir/tests/golden/tokenizers/small/tokenizer.json" "$here"
  if [ "$1" = text ]; then
    sed -i 's/"max_position_embeddings": .*,/"max_position_embeddings": 2048,/' "$here/config.json"
  fi
  "$build_dir/mote" convert "$here" -o "$work/$1.mote" "${@:3}"
}
make text llama --type q8 --chat-format zephyr
make embed mpnet_sentence --type f32
make classify bert_classifier --type f32
