#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the command model from scratch on two cores and writes it beside this file in Hugging Face layout.

    python generate.py --out data && python train.py --data data 

Needs torch, transformers, tokenizers and safetensors. `--evaluate FILE.tsv [--bits 8|4]` measures the exact
match of the model that is here, decoding greedily, instead of training one.
"""
import argparse
import itertools
import json
import pathlib
import random
import re
import time

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).resolve().parent
SPECIAL = ["<|pad|>", "<|command|>", "<|json|>", "<|end|>"]
PAD, COMMAND, JSON, END = range(4)
TEMPLATE = ("{% set last = namespace(index=0) %}{% for message in messages %}{% if message['role'] == 'user' %}"
            "{% set last.index = loop.index0 %}{% elif message['role'] == 'system' %}"
            "{{ raise_exception('The model takes no system message') }}{% endif %}{% endfor %}"
            "{% for message in messages[last.index:] %}{% if message['role'] == 'user' %}<|command|>"
            "{{ message['content'] }}<|json|>{% else %}{{ message['content'] }}<|end|>{% endif %}{% endfor %}")
GROUP = 32  # columns that share a scale once the model is quantized


def read_tsv(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def train_tokenizer(pairs):
    """Byte-level BPE. Digits are kept out of its text, so none ever merges: numbers are copied digit by digit."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[AddedToken(t, special=True) for t in SPECIAL],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    texts = (re.sub(r"[0-9]+", "\n", text) for pair in pairs for text in pair)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


VOCABULARY = 768


def new_model():
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=128, intermediate_size=352, num_hidden_layers=5, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=True,
        bos_token_id=COMMAND, eos_token_id=END, pad_token_id=PAD, initializer_range=0.04))


def encode(tokenizer, pairs):
    """(ids, length of the prompt) of each pair."""
    commands = tokenizer.encode_batch([command for command, _ in pairs], add_special_tokens=False)
    answers = tokenizer.encode_batch([answer for _, answer in pairs], add_special_tokens=False)
    return [([COMMAND] + c.ids + [JSON] + a.ids + [END], len(c.ids) + 2) for c, a in zip(commands, answers)]


def batches(examples, size, rng):
    """Endless batches (ids, labels) of examples of like length; labels cover the answer only."""
    while True:
        order = sorted(rng.sample(range(len(examples)), len(examples)), key=lambda i: len(examples[i][0]) + rng.random() * 4)
        starts = list(range(0, len(order), size))
        rng.shuffle(starts)
        for start in starts:
            yield collate([examples[i] for i in order[start:start + size]])


def collate(chosen):
    width = max(len(ids) for ids, _ in chosen)
    ids = torch.full((len(chosen), width), PAD)
    labels = torch.full((len(chosen), width), -100)
    for row, (tokens, prompt) in enumerate(chosen):
        ids[row, :len(tokens)] = torch.tensor(tokens)
        labels[row, prompt:len(tokens)] = ids[row, prompt:len(tokens)]
    return ids, labels


def loss_and_hits(model, ids, labels):
    """Mean loss of the answers' tokens, and which rows would be decoded without an error."""
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    target = labels[:, 1:]
    wanted = target != -100
    logits = model.lm_head(hidden[wanted])
    wrong = torch.zeros(wanted.shape, dtype=torch.bool)
    wrong[wanted] = logits.argmax(-1) != target[wanted]
    return torch.nn.functional.cross_entropy(logits, target[wanted]), ~wrong.any(1)


class Rounding:
    """Rounds the matrices in place to 4 or 8 bits in groups of 32, as a converted file holds them, and puts them back."""

    def __init__(self, model, bits):
        self.matrices = [p for p in model.parameters() if p.dim() == 2]
        self.limit = {4: 8, 8: 127}[bits]

    @torch.no_grad()
    def __enter__(self):
        self.exact = [p.detach().clone() for p in self.matrices]
        for matrix in self.matrices:
            groups = matrix.view(-1, GROUP)
            if self.limit == 8:  # the value of the largest magnitude becomes -8: nibbles reach from -8 to 7
                largest = groups.gather(1, groups.abs().argmax(1, keepdim=True))
                scale = (largest / -8).half().float()
            else:
                scale = (groups.abs().amax(1, keepdim=True) / 127).half().float()
            steps = torch.where(scale == 0, 0, groups / scale).round()
            groups.copy_(steps.clamp(-self.limit, self.limit - 1 if self.limit == 8 else 127) * scale)

    @torch.no_grad()
    def __exit__(self, *_):
        for matrix, exact in zip(self.matrices, self.exact):
            matrix.copy_(exact)


@torch.no_grad()
def teacher_forced_match(model, examples):
    hits = [loss_and_hits(model, *collate(examples[i:i + 250]))[1] for i in range(0, len(examples), 250)]
    return 100 * torch.cat(hits).float().mean().item()


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made orthogonal (five Newton-Schulz iterations), scaled to AdamW's usual size."""

    def __init__(self, matrices, lr, momentum=0.95, weight_decay=0.05):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                state = self.state[p].setdefault("mean", torch.zeros_like(p))
                state.lerp_(p.grad, 1 - group["momentum"])
                shapes.setdefault(p.shape, []).append((p, p.grad.lerp(state, group["momentum"])))
            for shape, members in shapes.items():
                updates = self.orthogonal(torch.stack([update for _, update in members]))
                rate = group["lr"] * 0.2 * max(shape) ** 0.5
                for (p, _), update in zip(members, updates):
                    p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=rate)

    @staticmethod
    def orthogonal(x):
        wide = x.shape[1] <= x.shape[2]
        x = x if wide else x.mT
        x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
        for _ in range(5):
            square = x @ x.mT
            x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
        return x if wide else x.mT


def fit(model, examples, valid, steps, peak_rate, rounding_share):
    """Muon for the matrices and AdamW for the rest, a short warm-up and a linear decay to nothing. In the last
    part every other step sees weights rounded to 4 bits (straight-through): quantizing costs little then."""
    matrices = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    embedding = model.model.embed_tokens.weight
    optimizers = [Muon([p for p in matrices if p is not embedding], lr=peak_rate),
                  torch.optim.AdamW([embedding] + others, lr=peak_rate, betas=(0.9, 0.98), weight_decay=0)]
    rounding, rng = Rounding(model, 4), random.Random(1)
    start, cpu, step, running = time.time(), time.process_time(), 0, 0.0
    for ids, labels in itertools.islice(batches(examples, 64, rng), steps):
        progress = step / steps
        rate = peak_rate * min((step + 1) / 50, 1 - progress)
        for group in [group for optimizer in optimizers for group in optimizer.param_groups]:
            group["lr"] = rate
        if progress > 1 - rounding_share and step % 2:
            with rounding:
                loss = loss_and_hits(model, ids, labels)[0]
                loss.backward()
        else:
            loss = loss_and_hits(model, ids, labels)[0]
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        running += 0.02 * (loss.item() - running) if step else loss.item()
        step += 1
        if step % 100 == 0:
            print(f"step {step}  {time.time() - start:.0f} s ({time.process_time() - cpu:.0f} s of CPU)  loss {running:.4f}  "
                  f"valid {teacher_forced_match(model, valid[::5]):.2f} %", flush=True)


def save(model, tokenizer):
    model.half().save_pretrained(HERE)
    model.float()
    tokenizer.save(str(HERE / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 256, "pad_token": SPECIAL[PAD],
                "bos_token": SPECIAL[COMMAND], "eos_token": SPECIAL[END], "add_bos_token": False, "chat_template": TEMPLATE,
                "clean_up_tokenization_spaces": False}
    (HERE / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    generation = {"do_sample": False, "bos_token_id": COMMAND, "eos_token_id": END, "pad_token_id": PAD, "max_new_tokens": 96}
    (HERE / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")


@torch.no_grad()
def greedy_answers(model, tokenizer, commands):
    prompts = [f"<|command|>{command}<|json|>" for command in commands]
    inputs = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False)
    ids = model.generate(inputs.input_ids, attention_mask=inputs.attention_mask, max_new_tokens=96, do_sample=False)
    return tokenizer.batch_decode(ids[:, inputs.input_ids.shape[1]:], skip_special_tokens=True)


def evaluate(path, bits, failures):
    model = LlamaForCausalLM.from_pretrained(HERE, dtype=torch.float32).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(HERE)
    pairs = read_tsv(path)
    if bits:
        Rounding(model, bits).__enter__()
    hits = []
    for start in range(0, len(pairs), 100):
        part = pairs[start:start + 100]
        for (command, wanted), answer in zip(part, greedy_answers(model, tokenizer, [command for command, _ in part])):
            hits.append(answer == wanted)
            if failures and answer != wanted:
                print(f"{command}\n  wanted {wanted}\n  got    {answer}")
    third = len(hits) // 3
    for name, part in (("unseen phrasings", hits[:third]), ("unseen combinations", hits[third:2 * third]),
                       ("both unseen", hits[2 * third:]), ("all", hits)):
        print(f"{name:20}{sum(part):6} of {len(part):5}  {100 * sum(part) / len(part):6.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=HERE, help="folder of train.tsv and valid.tsv")
    parser.add_argument("--steps", type=int, default=4400)
    parser.add_argument("--rate", type=float, default=5e-3)
    parser.add_argument("--rounding-share", type=float, default=0.3, help="part of the time that sees 4-bit weights")
    parser.add_argument("--evaluate", type=pathlib.Path, metavar="TSV")
    parser.add_argument("--bits", type=int, choices=(4, 8), help="round the weights before evaluating")
    parser.add_argument("--failures", action="store_true", help="print the wrong answers")
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(2)
    if args.evaluate:
        evaluate(args.evaluate, args.bits, args.failures)
        return
    pairs = read_tsv(args.data / "train.tsv")
    tokenizer = train_tokenizer(pairs[:50_000])
    model = new_model()
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {tokenizer.get_vocab_size()} tokens", flush=True)
    valid = encode(tokenizer, read_tsv(args.data / "valid.tsv"))
    fit(model, encode(tokenizer, pairs), valid, args.steps, args.rate, args.rounding_share)
    for name, found in (("as trained", 0), ("8 bits", 8), ("4 bits", 4)):
        if found:
            with Rounding(model, found):
                print(f"valid, {name}: {teacher_forced_match(model, valid):.2f} %")
        else:
            print(f"valid, {name}: {teacher_forced_match(model, valid):.2f} %")
    save(model, tokenizer)


if __name__ == "__main__":
    main()
