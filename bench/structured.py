#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures masks and compiling of schemas beside llguidance and xgrammar.

    bench/structured.py VOCABULARY.gguf... [--lines build/mote_structured_lines] [--rounds 5] [--markdown FILE]

The vocabularies are ggml-vocab-*.gguf of llama.cpp: gpt-2, llama-bpe and qwen2 have 50,258, 128,257 and 152,065 ids with the
stop id that is added. Every library gets the same bytes of tokens, the same schemas (structured_cases.py) and walks the same
answers, as the vocabulary's own tokenizer splits them; the time of each step's mask is one number. Peers write ", " and ": "
alone, which is the least that they can allow. Versions that were measured are in bench/requirements-structured.txt; peers
that are not installed are left out. mote's masks are those with 512 tokens left; "at the end" are those with exactly as many
left as the answer takes."""
import argparse
import gc
import importlib.util
import json
import statistics
import subprocess
import time

from structured_cases import CASES

LEFT = 512


class WrongAnswer(RuntimeError):
    pass


def percentile(numbers, share):
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Lines:
    """mote, by the program that answers lines of JSON."""

    name = "mote"

    def __init__(self, program, vocabulary):
        self.process = subprocess.Popen([program, vocabulary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "failed" in answer:
            raise RuntimeError(f"{question.get('do')}: {answer['failed']}")
        return answer

    def compile(self, schema):
        """Returns the milliseconds, or the sentence of a refusal."""
        said = self.ask(do="compile", json_schema=json.dumps(schema))
        return said.get("refused") or said["ms"]

    def masks(self, ids, left=LEFT):
        return self.ask(do="masks", answers=[ids], left=left)["micros"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Guidance:
    name = "llguidance"

    def __init__(self, tokens, special, stop, encode):
        import llguidance
        import numpy

        class Tokenizer:
            eos_token_id, bos_token_id = stop, None
            special_token_ids = special

            def __call__(self, text):
                return encode(text)

        Tokenizer.tokens = tokens
        self.library = llguidance
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()),
                                                slices=llguidance.LLTokenizer.json_slices())
        self.tokens, self.stop = tokens, stop
        self.mask = numpy.zeros((len(tokens) + 31) // 32, dtype=numpy.int32)

    def compile(self, schema):
        matchers = self.library.LLMatcher
        begin = time.perf_counter_ns()
        grammar = matchers.grammar_from_json_schema(
            schema, overrides={"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "})
        self.matcher = matchers(self.tokenizer, grammar)
        took = (time.perf_counter_ns() - begin) / 1e6
        return self.matcher.get_error() if self.matcher.is_error() else took

    def masks(self, ids):
        matcher = self.matcher.deep_copy()
        at, size, micros = self.mask.ctypes.data, self.mask.nbytes, []
        for id in [*ids, self.stop]:
            begin = time.perf_counter_ns()
            matcher.unsafe_compute_mask_ptr(at, size)
            micros.append((time.perf_counter_ns() - begin) / 1e3)
            if not self.mask[id // 32] >> id % 32 & 1:
                raise WrongAnswer(f"{self.tokens[id]} is not allowed at step {len(micros)}")
            if id != self.stop:
                matcher.consume_token(id)
        return micros


class XGrammar:
    name = "xgrammar"

    def __init__(self, tokens, special, stop, encode):
        import xgrammar
        self.library = xgrammar
        info = xgrammar.TokenizerInfo(tokens, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[stop])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=2, cache_enabled=False)
        self.mask = xgrammar.allocate_token_bitmask(1, len(tokens))
        self.tokens, self.stop = tokens, stop

    def compile(self, schema):
        begin = time.perf_counter_ns()
        try:
            self.grammar = self.compiler.compile_json_schema(json.dumps(schema), any_whitespace=False, separators=(", ", ": "),
                                                             strict_mode=False)
        except RuntimeError as error:
            return str(error)
        return (time.perf_counter_ns() - begin) / 1e6

    def masks(self, ids):
        matcher, micros = self.library.GrammarMatcher(self.grammar), []
        for id in [*ids, self.stop]:
            begin = time.perf_counter_ns()
            matcher.fill_next_token_bitmask(self.mask)
            micros.append((time.perf_counter_ns() - begin) / 1e3)
            if id != self.stop and not matcher.accept_token(id):
                raise WrongAnswer(f"{self.tokens[id]} is not accepted at step {len(micros)}")
        return micros


def measure(library, case, answers, rounds, *left):
    """Returns milliseconds of compiling and microseconds of masks, or the sentence of a refusal."""
    schema, compiled, micros = CASES[case][0], [], []
    for _ in range(rounds):
        said = library.compile(schema)
        if isinstance(said, str):
            return said
        compiled.append(said)
        for ids in answers:
            try:
                micros += library.masks(ids, *(few(ids) for few in left))
            except WrongAnswer as error:
                return str(error)
    return compiled, micros


def row(name, compiled, micros):
    return (f"| {name} | {statistics.median(compiled):.2f} | {max(compiled):.2f} | {percentile(micros, 0.5):.2f} | "
            f"{percentile(micros, 0.99):.1f} | {max(micros):.0f} |")


def compare(arguments, vocabulary, out):
    mote = Lines(arguments.lines, vocabulary)
    words = mote.ask(do="vocabulary")
    tokens = [bytes.fromhex(token) for token in words["tokens"]]
    encode = lambda text: mote.ask(do="encode", text=text if isinstance(text, str) else text.decode("utf-8", "replace"))["ids"]
    peers = [peer(tokens, words["special"], words["stop"], encode) for peer in (Guidance, XGrammar)
             if importlib.util.find_spec(peer.name)]
    answers = {case: [encode(json.dumps(answer, ensure_ascii=False)) for answer in given]
               for case, (_, given) in CASES.items()}
    out(f"\n## {vocabulary.rsplit('/', 1)[-1]}, {len(tokens)} ids\n")
    out("| library | compile, ms: median | most | mask, us: p50 | p99 | most |\n|---|---|---|---|---|---|")
    gc.disable()
    measured = {library.name: {case: measure(library, case, answers[case], arguments.rounds) for case in CASES}
                for library in (mote, *peers)}
    measured["mote at the end"] = {case: measure(mote, case, answers[case], arguments.rounds, lambda ids: len(ids) + 1)
                                   for case in CASES}
    gc.enable()
    refused = [f"{name} refuses {case}: {said.splitlines()[0]}." for name, cases in measured.items()
               for case, said in cases.items() if isinstance(said, str)]
    common = [case for case in CASES if not any(isinstance(cases[case], str) for cases in measured.values())]
    for name, cases in measured.items():
        out(row(name, [ms for case in common for ms in cases[case][0]], [us for case in common for us in cases[case][1]]))
    out(f"\nOf the schemas that all take: {', '.join(common)}. " + " ".join(refused))
    if arguments.cases:
        out("\n| schema | library | compile, ms: median | most | mask, us: p50 | p99 | most |\n|---|---|---|---|---|---|---|")
        for case in CASES:
            for name, cases in measured.items():
                if not isinstance(cases[case], str):
                    out(f"| {case} " + row(name, *cases[case]))
    mote.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocabularies", nargs="+", metavar="VOCABULARY.gguf")
    parser.add_argument("--lines", default="build/mote_structured_lines")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", action="store_true", help="a line for each schema, too")
    parser.add_argument("--markdown", help="writes the tables to this file, too")
    arguments = parser.parse_args()
    file = open(arguments.markdown, "w") if arguments.markdown else None

    def out(line):
        print(line, flush=True)
        if file:
            print(line, file=file, flush=True)

    for vocabulary in arguments.vocabularies:
        compare(arguments, vocabulary, out)


main()
