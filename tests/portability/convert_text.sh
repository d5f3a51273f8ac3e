#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes text.mote for the tests that need words: the golden llama with a small tokenizer, a chat format and room for a
# conversation.
source "$(dirname "$0")/common.sh" "$@"
golden=$source_dir/tests/golden
here=$work/text
rm -rf "$here"
mkdir -p "$here"
cp "$golden"/models/llama/* "$golden/tokenizers/small/tokenizer.json" "$here"
sed -i 's/"max_position_embeddings": .*,/"max_position_embeddings": 2048,/' "$here/config.json"
"$build_dir/mote" convert "$here" -o "$text_model" --type q8 --chat-format zephyr
