# SPDX-License-Identifier: Apache-2.0
"""Trains the small tokenizers that show WordPiece, Unigram and normalizers, and writes what they make of texts.

    python make_pieces.py        (tokenizers 0.23)

own_wordpiece  BERT's: clean-up, accents, ideographs, pieces with "##", pairs of texts with token types
own_unigram    XLM-RoBERTa's and T5's: a precompiled map of our own, Strip, a replaced run of spaces, Metaspace, byte tokens
own_clip       CLIP's: NFC, a replaced run of white space, lower case, byte pairs with "</w>" at the ends of words

The texts to train on are the phrases of models/commands; those to test on are below. Each line of NAME.jsonl has text, ids,
ids_without_special, offsets in characters and decoded; NAME.pairs.jsonl has first, second, ids, types, offsets and texts
(0, 1 or null for what was added).
"""
import base64
import json
import random
import struct
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
PHRASES = [line for file in sorted((HERE / "../../../models/commands/phrases").glob("*.txt"))
           for line in file.read_text().splitlines() if line and not line.startswith("#")]

TEXTS = [
    "", " ", "a", "Hello, world!", "turn ON the kitchen lights", "  two  spaces   three    ", "don't stop: 12.5 % of 3/4",
    "caf\u00e9 cafe\u0301 na\u00efve \u00c5ngstr\u00f6m", "o\u0302\u0323 o\u0323\u0302 \u1ed9 \u1e9b\u0323", "\ufb01ne \ufb02oor \u00bd \u2460 \u2163",
    "\u0130stanbul \u03a3\u03a3 STRASSE \u1e9e \u00df", "\u4f60\u597d\u4e16\u754c kitchen\u6f22", "\uc548\ub155 \u1112\u1161\u11ab \u1100\u1161", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31 \u0b95\u0bcd\u0bb7",
    "a\u0000b\u0001c\u007fd\u0085e\ufffdf", "\u0001\u0002light", "\u00ad soft\u00adhyphen \ufeffmark \u200b", "tab\tline\nreturn\r\nend",
    "\u00a0a\u2003b\u3000c\u1680d\u2028e", "\U0001f600 light\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea\U0001f1eb \u00a9\u200d\u263a 1\ufe0f\u20e3",
    "[CLS] light [SEP] [MASK] [UNK]", "<s> light </s> <unk> <mask>", "light</w> ##ing \u2581a \u2581\u2581b <0x41>", "l" * 101, "l" * 100, "x\u0301" * 60,
    "\u0301\u0323light", "a" + "\u0301\u0323\u0327" * 40, "fi\ufb01\u0301x \u0600\u0661 \u0600a", "\ufdfa \u3300 \u32ff \u01c4", "\u212b\u2126\u00b5 \uff28\uff49",
    "...!?-- (x) [y] {z} $5 <a> `b` ~c", "e\u0301\u0301 \u0344 \u0958 \u2adc \U0001d15e", "kitchenlightkitchenlight" * 12, "\ud55c\u11ab \u1100\u1100\u1161",
]
PAIRS = [("turn on the light", "in the kitchen"), ("", "a"), ("a", ""), ("light [SEP] x", "caf\u00e9  b"), (" a b ", "\u0001c")]
# Keys and texts of the precompiled map; a key that starts with another is never found.
MAP = {"\u0001": "", "\u0002": "", "\u007f": "", "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u2003": " ", "\u200b": " ",
       "\ufeff": "", "\u00ad": "", "\ufb01": "fi", "\ufb02": "fl", "\u00bd": "1\u20442", "\u2460": "1", "\u2163": "IV", "e\u0301": "\u00e9",
       "o\u0302": "\u00f4", "\uff28": "H", "\uff49": "i", "\u212b": "\u00c5", "\u3300": "\u30a2\u30d1\u30fc\u30c8", "\u00b5": "\u03bc"}


def double_array(keys):
    """Darts-clone's array: each unit has its label, whether a value follows, and the distance to its children."""
    units, used, bases = {}, {0}, set()

    def place(position, entries):
        children = {}
        for key, value in entries:
            children.setdefault(key[0] if key else 0, []).append((key[1:], value))
        base = 1
        while base in bases or any(base ^ label in used for label in children):
            base += 1
        bases.add(base)
        used.update(base ^ label for label in children)
        units[position] = units.get(position, 0) | (position ^ base) << 10 | (0 in children) << 8
        for label, below in children.items():
            if label == 0:
                units[base] = 1 << 31 | below[0][1]
            else:
                units[base ^ label] = label
                place(base ^ label, below)

    place(0, sorted(keys.items()))
    return b"".join(struct.pack("<I", units.get(i, 0)) for i in range(max(units) + 257))


def precompiled():
    texts, offsets = b"", {}
    for key, text in MAP.items():
        offsets[key.encode()] = len(texts)
        texts += text.encode() + b"\0"
    array = double_array(offsets)
    return struct.pack("<I", len(array)) + array + texts


def own_wordpiece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(PHRASES + [text.replace("\u0001", "") for text in TEXTS[:24]],
                                  trainers.WordPieceTrainer(vocab_size=500, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def own_unigram():
    steps = normalizers.Sequence([normalizers.Precompiled(precompiled()), normalizers.Strip(left=False, right=True),
                                  normalizers.Replace(Regex(" {2,}"), " ")])
    trained = Tokenizer(models.Unigram())
    trained.normalizer, trained.pre_tokenizer = steps, pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trained.train_from_iterator(PHRASES, trainers.UnigramTrainer(vocab_size=350, special_tokens=special, unk_token="<unk>",
                                                                 show_progress=False))
    content = json.loads(trained.to_str())["model"]
    vocabulary = [(token, struct.unpack("f", struct.pack("f", score))[0]) for token, score in content["vocab"]]
    vocabulary += [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=content["unk_id"], byte_fallback=True))
    tokenizer.normalizer, tokenizer.pre_tokenizer = steps, pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens([*special, "<mask>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return tokenizer


def own_clip():
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True),
         pre_tokenizers.ByteLevel(add_prefix_space=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<|startoftext|>", "<|endoftext|>"], initial_alphabet=alphabet,
                                  end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(PHRASES + [letter for letter in alphabet], trainer)
    content = json.loads(tokenizer.to_str())
    vocabulary = content["model"]["vocab"]
    for letter in sorted(alphabet):
        vocabulary.setdefault(letter + "</w>", len(vocabulary))
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def mixtures(count=60, seed=5):
    """Runs of characters from many blocks, with marks behind some."""
    rng = random.Random(seed)
    blocks = [(0x20, 0x7f), (0x61, 0x7b), (0xa0, 0x250), (0x300, 0x340), (0x370, 0x400), (0x400, 0x460), (0x5d0, 0x5eb),
              (0x620, 0x660), (0x904, 0x950), (0xe01, 0xe3a), (0x1100, 0x1176), (0x1e00, 0x1f00), (0x2000, 0x2070), (0x2460, 0x2500),
              (0x3041, 0x30ff), (0x4e00, 0x4f00), (0xac00, 0xad00), (0xfb00, 0xfb07), (0xff01, 0xff5f), (0x1f600, 0x1f640), (0, 0x20)]
    for _ in range(count):
        text = ""
        for low, high in rng.choices(blocks, k=6):
            text += "".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 5)))
            text += rng.choice(["", " ", "\u0301", "\u0323\u0301", "light"])
        yield text


def line(tokenizer, text):
    encoded = tokenizer.encode(text)
    return {"text": text, "ids": encoded.ids, "ids_without_special": tokenizer.encode(text, add_special_tokens=False).ids,
            "offsets": encoded.offsets, "decoded": tokenizer.decode(encoded.ids)}


def pair_line(tokenizer, first, second):
    encoded = tokenizer.encode(first, second)
    return {"first": first, "second": second, "ids": encoded.ids, "types": encoded.type_ids, "offsets": encoded.offsets,
            "texts": encoded.sequence_ids}


def main():
    for make in (own_wordpiece, own_unigram, own_clip):
        name, tokenizer = make.__name__, make()
        (HERE / name).mkdir(exist_ok=True)
        tokenizer.save(str(HERE / name / "tokenizer.json"))
        lines = [line(tokenizer, text) for text in [*TEXTS, *mixtures()]]
        (HERE / f"{name}.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in lines))
        pairs = [pair_line(tokenizer, *pair) for pair in PAIRS]
        (HERE / f"{name}.pairs.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in pairs))
        print(f"{name}: {tokenizer.get_vocab_size()} tokens, {len(lines)} texts")


if __name__ == "__main__":
    main()
