# SPDX-License-Identifier: Apache-2.0
"""Every call answers, and its answer has the shape that it promises."""
import json
import logging
import shutil
import subprocess

import mote
import numpy as np
import pytest
from conftest import GOLDEN, ROOT
from mote._library import command


def test_vectors_are_those_of_the_command(kept, file_of):
    texts = ["hello world", "the world", "a cat"]
    vectors = kept("bert_sentence_dense").embed(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (3, kept("bert_sentence_dense").width)
    lines = subprocess.run(
        [command(), "embed", file_of("bert_sentence_dense"), "--threads", "1"],
        input="\n".join(texts), capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert np.allclose(vectors, [json.loads(line)["embedding"] for line in lines], atol=1e-6)


def test_one_text_gives_one_vector_and_an_iterator_gives_an_iterator(kept):
    model = kept("bert_sentence_dense")
    both = model.embed(["hello", "world"])
    assert model.embed("hello").shape == (model.width,)
    assert np.array_equal(model.embed("hello"), both[0])
    taken = []

    def texts():
        for text in ["hello", "world", "cat"]:
            taken.append(text)
            yield text

    vectors = model.embed(texts(), batch_size=1)
    assert taken == []
    assert np.array_equal(next(vectors), both[0]) and taken == ["hello"]
    assert np.array_equal(next(vectors), both[1]) and len(list(vectors)) == 1
    assert model.embed([]).shape == (0, model.width)
    assert np.array_equal(model.embed(np.array(["hello", "world"])), both)


def test_batches_and_progress_change_no_bit(kept):
    model = kept("bert_sentence_dense")
    texts = [f"text {'a ' * (i % 4)}{i}" for i in range(50)]
    told = []
    some = model.embed(texts, batch_size=7, progress=lambda done, of: told.append((done, of)))
    assert np.array_equal(some, model.embed(texts))
    assert told[-1] == (50, 50) and len(told) == 8


def test_texts_too_long_are_cut_when_asked_and_notes_go_to_the_log(kept, caplog):
    model = kept("bert_sentence_dense")
    long_text = "hello world " * 500
    with pytest.raises(mote.Error, match="truncate=True cuts what is longer") as caught:
        model.embed(long_text)
    assert caught.value.sentence in str(caught.value) and "truncate" not in caught.value.sentence
    assert caught.value.remedy
    with caplog.at_level(logging.INFO, logger="mote"):
        assert model.embed(long_text, truncate=True).shape == (model.width,)
    assert caplog.messages


def test_texts_are_ranked(kept):
    ranked = kept("bert_sentence_dense").rank("hello world", ["a cat", "hello world", "the"], top=2)
    assert [sorted(one) for one in ranked] == [["index", "score"]] * 2
    assert ranked[0]["index"] == 1 and ranked[0]["score"] >= ranked[1]["score"]
    reranked = kept("bert_cross_encoder").rerank("hello", ["a cat", "world"])
    assert sorted(one["index"] for one in reranked) == [0, 1]


def test_texts_pictures_and_sounds_are_classified(kept):
    labels = kept("bert_classifier").classify(["hello", "world"], top=2)
    assert len(labels) == 2 and len(labels[0]["labels"]) == 2
    assert kept("bert_classifier").classify("hello", top=1)["labels"][0] == labels[0]["labels"][0]
    pixels = (np.arange(24 * 24 * 3) * 7 % 256).astype(np.uint8).reshape(24, 24, 3)
    seen = kept("vit_classifier").classify(pixels, top=1)
    assert 0 < seen["labels"][0]["probability"] <= 1
    assert kept("vit_classifier").classify(np.stack([pixels, pixels]), top=1) == [seen, seen]
    assert np.array_equal(pixels[::-1][::-1], pixels)  # strides of any kind are read in order
    assert kept("vit_classifier").classify(pixels[::-1][::-1], top=1) == seen
    pairs = kept("bert_cross_encoder").classify([("hello", "world")], pairs=True)
    assert len(pairs) == 1 and pairs[0]["labels"]
    sound = ROOT / "models/keywords/held-out/go.wav"
    assert kept("keywords").classify(sound, top=1)["labels"][0]["label"] == "go"
    assert kept("keywords").classify(sound.read_bytes(), top=1)["labels"][0]["label"] == "go"


def test_boxes_and_depths_are_found(kept, tmp_path):
    pixels = (np.arange(24 * 24 * 3) * 7 % 256).astype(np.uint8).reshape(24, 24, 3)
    found = kept("yolos").detect(pixels, threshold=0.0)
    assert (found["width"], found["height"]) == (24, 24) and len(found["boxes"][0]["box"]) == 4
    assert kept("yolos").detect([pixels, pixels], threshold=0.0) == [found, found]
    depths = kept("depth_anything").depth(pixels)
    assert depths.shape == (24, 24) and depths.dtype == np.float32
    assert kept("depth_anything").depth(pixels, output=tmp_path / "depth.png").size == 0
    assert (tmp_path / "depth.png").read_bytes()[:4] == b"\x89PNG"


def test_speech_is_said_and_written_down(kept):
    parts = []
    said = kept("vits").speak("hello", on_samples=lambda samples, rate: parts.append(samples))
    assert said.rate == 16000 and said.samples.dtype == np.float32 and said.samples.size
    assert np.array_equal(np.concatenate(parts), said.samples)
    assert np.array_equal(kept("vits").speak("hello").samples, said.samples)
    segments, texts = [], []
    model = kept("wav2vec2_ctc")
    heard = model.transcribe(
        said.samples, 16000, on_segment=lambda *segment: segments.append(segment), on_text=texts.append
    )
    assert [one["text"] for one in heard["segments"]] == [text for text, _, _ in segments]
    assert model.transcribe(said.samples, said.rate) == heard
    assert model.transcribe(said.samples.astype(np.float64), said.rate) == heard
    apart = np.repeat(said.samples, 2)[::2]
    assert not apart.flags.c_contiguous and model.transcribe(apart, said.rate) == heard


def test_sounds_are_read_from_files_and_bytes(kept):
    sound = ROOT / "models/keywords/held-out/go.wav"
    model = kept("wav2vec2_ctc")
    assert model.transcribe(str(sound)) == model.transcribe(sound) == model.transcribe(sound.read_bytes())


def test_sounds_become_vectors(kept):
    sound = ROOT / "models/keywords/held-out/go.wav"
    model = kept("hubert")
    one = model.embed(sound)
    assert one.shape == (model.width,) and one.dtype == np.float32
    assert np.array_equal(model.embed([sound, sound.read_bytes()]), np.stack([one, one]))
    assert np.array_equal(model.embed([sound, sound], batch_size=1), np.stack([one, one]))


def test_sounds_are_compared_with_texts(tmp_path):
    folder = tmp_path / "clap"
    shutil.copytree(ROOT / "tests/golden/models/clap", folder)
    shutil.copy(ROOT / "tests/golden/tokenizers/small/tokenizer.json", folder)
    for tower in ("audio", "text"):
        mote.convert(folder, tmp_path / f"{tower}.mote", type="f32", tower=tower)
    sound = ROOT / "models/keywords/held-out/go.wav"
    with mote.open(tmp_path / "audio.mote", text_model=tmp_path / "text.mote") as model:
        vector = model.embed(sound)
        assert vector.shape == (model.width,) and abs(float(np.linalg.norm(vector)) - 1) < 1e-5
        assert np.array_equal(model.embed(sound.read_bytes()), vector)
        labels = ["hello", "the end"]
        found = model.classify(sound, labels=labels)
        assert {label["label"] for label in found["labels"]} == set(labels)
        assert abs(sum(label["probability"] for label in found["labels"]) - 1) < 1e-5
        silence = np.zeros(4800, np.float32)
        both = model.classify([sound, sound], labels=labels)
        assert both == [found, found] and model.classify(silence, labels=labels, rate=48000) != found
    with mote.open(tmp_path / "audio.mote") as alone:
        with pytest.raises(mote.Error, match="text_model= compares pictures or sounds with texts"):
            alone.classify(sound, labels=labels)


def test_texts_of_a_stretch_that_goes_on_are_told(kept):
    sound = ROOT / "models/speech/held-out/sentence.wav"
    model = kept("wav2vec2_ctc")
    partials = []
    heard = model.transcribe(sound, on_partial=lambda text, agreed: partials.append((text, agreed)))
    assert partials and all(text.startswith(agreed) for text, agreed in partials)
    assert heard["latency"]["stretches"] == 1
    assert heard["text"] == model.transcribe(sound, live=True)["text"]


def test_texts_are_translated_and_summarized(kept):
    model = kept("t5")
    one = model.translate("hello", tokens=4)
    assert isinstance(one, str)
    assert model.translate(["hello", "hello"], tokens=4) == [one, one]
    (found,) = model.translate("hello", tokens=4, beams=2, hypotheses=True)
    assert len(found) == 2 and found[0]["score"] >= found[1]["score"]
    assert isinstance(model.summarize("hello", tokens=4), str)


def test_tokens_come_with_their_places(kept):
    model = kept("bert_sentence_dense")
    ids = model.tokenize("hello world")
    tokens = model.tokenize("hello world", offsets=True)
    assert tokens["ids"] == ids and len(tokens["offsets"]) == len(ids)
    assert model.tokenize("hello", "world")[: len(model.tokenize("hello")) - 1] == model.tokenize("hello")[:-1]
    assert len(model.tokenize("hello", no_special=True)) < len(model.tokenize("hello"))
    assert isinstance(model.detokenize(ids), str) and model.detokenize([]) == ""
    assert model.detokenize(np.array(ids)) == model.detokenize(ids)


def test_answers_stream_and_say_what_they_are(kept):
    model = kept("llama")
    answer = model.generate("hello", tokens=6)
    parts = list(answer)
    assert "".join(parts) == answer.result["text"] and len(answer.result["output_ids"]) == 6
    assert answer.result["finish"] == "length"
    ids = model.tokenize("hello")
    assert model.generate(ids, tokens=6).read() == answer.read()
    again = [model.generate("hello", tokens=6, temp=1.5, top_k=50, seed=seed).read() for seed in (3, 3, 4)]
    assert again[0] == again[1] != again[2]
    first = parts[0]
    assert model.generate("hello", tokens=6, stop=[first[-1]]).read() in "".join(parts)


def test_conversations_go_through_the_models_template(kept):
    model = kept("llama")
    messages = [{"role": "user", "content": "hi"}]
    whole = model.generate(messages, tokens=3).result
    assert model.generate({"messages": messages}, tokens=3).result["prompt_ids"] == whole["prompt_ids"]
    assert model.generate("hi", chat=True, tokens=3).result["text"] == whole["text"]


def test_a_chat_keeps_its_turns_and_is_saved(kept):
    with kept("llama").chat(tokens=4, greedy=True) as chat:
        first = chat.say("hello").result
        assert first["reused_tokens"] == 0
        state = chat.save_state()
        second = chat.say("again")
        text = second.read()
        assert second.result["reused_tokens"] > 0
        chat.load_state(state)
        assert chat.say("again").read() == text
        chat.reset()
        assert chat.say("hello").result["text"] == first["text"]
        with pytest.raises(mote.Error):
            chat.load_state(state[: len(state) // 2])
    with pytest.raises(mote.Error, match="the chat is closed"):
        chat.say("hello")


def test_a_session_is_saved_and_gone_on_from(kept, tmp_path):
    model = kept("llama")
    whole = model.generate("hello world", tokens=5).read()
    ids = model.tokenize("hello world")
    model.save_state(ids[:-1], tmp_path / "state")
    assert model.load_state(tmp_path / "state", ids[-1:], tokens=5).read() == whole


def test_attention_maps_sum_to_one(kept):
    found = kept("bert_sentence_dense").attention("hello world")
    assert found.maps and all(one.weights.ndim == 3 for one in found.maps)
    assert np.allclose(found.maps[0].weights.sum(axis=2), 1, atol=1e-5)


def test_a_model_says_what_it_is_and_is_verified(kept):
    model = kept("llama")
    assert "generate" in model.info()["tasks"] and model.name in repr(model)
    assert model.verify()["self_test"]


def test_a_template_is_rendered():
    conversation = [{"role": "user", "content": "hi"}]
    assert mote.template("{{ messages[0].content }}{{ end }}", conversation, set={"end": "!"}) == "hi!"


def test_a_model_opens_from_bytes(file_of, kept):
    data = file_of("bert_sentence_dense").read_bytes()
    with mote.open(data, name="bytes") as model:
        assert np.array_equal(model.embed("hello"), kept("bert_sentence_dense").embed("hello"))


def test_conversions_tell_their_stages_and_end_without_a_file(tmp_path):
    source = GOLDEN / "models/bert_sentence_dense"
    stages = []
    made = mote.convert(source, tmp_path / "a.mote", type="q8", progress=lambda stage, part: stages.append(part))
    assert made["architecture"] == "bert" and stages
    assert "llama" in str(mote.convert_list()["architectures"])

    def stop(stage, part):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mote.convert(source, tmp_path / "b.mote", progress=stop)
    with pytest.raises(mote.Error, match="typ"):
        mote.convert(source, tmp_path / "b.mote", typ="q8")
    assert not (tmp_path / "b.mote").exists()


def test_a_verification_tells_how_far_it_is_and_ends_where_nobody_wants_it(fresh):
    model = fresh("llama")
    told = []
    assert model.verify(progress=lambda stage, part: told.append((stage, part)))["self_test"]
    hashes = [part for stage, part in told if stage == "hashes"]
    assert hashes == sorted(hashes) and hashes[0] == 0 and hashes[-1] == 1 and len(hashes) > 10
    assert told[len(hashes) :] == [("self test", 0), ("self test", 1)]

    def stop(stage, part):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.verify(progress=stop)
    assert model.verify()["self_test"]
