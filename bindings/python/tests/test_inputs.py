# SPDX-License-Identifier: Apache-2.0
"""What is wrong with inputs and options is an exception with a sentence, and what is odd but right is read."""
import pickle

import mote
import numpy as np
import pytest

PIXELS = np.zeros((24, 24, 3), np.uint8)


@pytest.mark.parametrize("text", [None, 7, b"bytes", 1.5, {"a": 1}, object()])
def test_what_is_no_text_is_refused(kept, text):
    model = kept("bert_sentence_dense")
    for call in (
        lambda: model.embed([text]),
        lambda: model.rank("hello", [text]),
        lambda: model.rank(text, ["hello"]),
        lambda: model.tokenize(text),
        lambda: model.classify([text]),
        lambda: list(model.embed(iter([text]))),
        lambda: kept("t5").translate([text]),
    ):
        with pytest.raises(TypeError, match="is a"):
            call()


def test_half_a_surrogate_pair_is_refused(kept):
    model, bad = kept("bert_sentence_dense"), "caf\ud800"
    for call in (
        lambda: model.embed(["fine", bad]),
        lambda: model.rank(bad, ["hello"]),
        lambda: model.tokenize("hello", bad),
        lambda: kept("llama").generate(bad),
        lambda: kept("llama").generate("hello", stop=bad),
        lambda: kept("llama").generate([{"role": "user", "content": bad}]),
        lambda: kept("llama").chat(system=bad),
        lambda: mote.template("{{ a }}", {"messages": [], "a": bad}),
    ):
        with pytest.raises(ValueError, match="surrogate"):
            call()


def test_zeros_and_odd_characters_are_text(kept):
    model = kept("bert_sentence_dense")
    for text in ("a\0b", "\0", "", "\U0001f600", "é" * 3, "\x7f\x01"):
        assert np.isfinite(model.embed(text)).all()
        assert model.tokenize(text) == model.tokenize(text)
    tokens = kept("llama").tokenize
    assert tokens("hello\0world") != tokens("hello") and len(tokens("\0")) > len(tokens(""))


def test_paths_with_zeros_are_refused(tmp_path):
    for path in ("a\0b", "\0"):
        with pytest.raises(ValueError, match="zero"):
            mote.open(path)
        with pytest.raises(ValueError, match="zero"):
            mote.convert(path, tmp_path / "x.mote")


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint8, np.complex64, bool, object])
def test_samples_of_other_types_are_refused(kept, dtype):
    with pytest.raises(TypeError, match="floats from -1 to 1"):
        kept("wav2vec2_ctc").transcribe(np.zeros(1000, dtype), 16000)


def test_samples_of_other_shapes_and_rates_are_refused(kept):
    model, samples = kept("wav2vec2_ctc"), np.zeros(1000, np.float32)
    for wrong in (samples.reshape(10, 100), samples[:0], np.float32(1), np.array([np.nan, 0], np.float32)):
        with pytest.raises((ValueError, TypeError)):
            model.transcribe(wrong, 16000)
    for rate in (None, 16000.0, "16000", True):
        with pytest.raises(TypeError, match="rate"):
            model.transcribe(samples, rate)
    for rate in (0, -1, 2**32):
        with pytest.raises(ValueError, match="rate"):
            model.transcribe(samples, rate)
    with pytest.raises(ValueError, match="a file says its own"):
        model.transcribe("sound.wav", 16000)
    with pytest.raises(TypeError, match="a sound is"):
        model.transcribe([0.0, 0.1], None)


def test_samples_of_any_strides_and_byte_order_are_read(kept):
    model = kept("wav2vec2_ctc")
    samples = np.sin(np.arange(4000, dtype=np.float32) / 7)
    heard = model.transcribe(samples, 16000)
    for same in (samples[::-1].copy()[::-1], samples.astype(">f4"), np.repeat(samples, 3)[::3], samples.astype(np.float64)):
        assert model.transcribe(same, 16000) == heard
    same = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1000,), (0,))
    assert model.transcribe(same, 16000) == model.transcribe(np.zeros(1000, np.float32), 16000)


def test_pictures_of_other_types_and_shapes_are_refused(kept):
    model = kept("vit_classifier")
    for wrong in (PIXELS.astype(np.float32), PIXELS.astype(np.int8), 7):
        with pytest.raises(TypeError):
            model.classify([wrong])
    for wrong in (PIXELS[:, :, :2], PIXELS[:, :, 0], PIXELS[:0], np.zeros((4, 4, 4), np.uint8), b""):
        with pytest.raises(ValueError):
            model.classify([wrong])
    with pytest.raises(mote.Error):
        model.classify(b"no picture")
    with pytest.raises(mote.Error, match="no_such"):
        model.classify("/no_such/picture.png")


def test_token_ids_of_other_types_are_refused(kept):
    model = kept("llama")
    for wrong in ([1.5], ["a"], [[1, 2]], [2**31], []):
        with pytest.raises((TypeError, ValueError)):
            model.generate(wrong)
    for wrong in ([10**6], [-1]):
        with pytest.raises(mote.Error):
            model.generate(wrong).read()
    with pytest.raises((TypeError, ValueError)):
        model.detokenize([1.5])


def test_options_are_refused_by_their_name(kept, file_of):
    model = kept("llama")
    with pytest.raises(mote.Error, match="top-kk.*top-k|top-kk"):
        model.generate("hello", top_kk=3).read()
    with pytest.raises(mote.Error, match="seed"):
        model.generate("hello", seed="x").read()
    with pytest.raises(mote.Error, match="threads"):
        mote.open(file_of("llama"), threads=0)
    with pytest.raises(mote.Error, match="thread"):
        mote.open(file_of("llama"), thread=1)
    with pytest.raises(TypeError, match="an option cannot be"):
        model.generate("hello", temp=object())
    with pytest.raises(ValueError):
        model.generate("hello", temp=float("nan"))
    assert model.generate("hello", tokens=np.int64(2), temp=np.float32(0.5)).result["finish"] == "length"
    for size in (0, -1):
        with pytest.raises(ValueError, match="batch_size"):
            model.embed(["a"], batch_size=size)
    with pytest.raises(TypeError, match="batch_size"):
        model.embed(["a"], batch_size=1.5)


def test_a_call_that_the_model_is_not_for_says_so(kept):
    with pytest.raises(mote.Error, match="continues no text"):
        kept("bert_sentence_dense").generate("hello").read()
    with pytest.raises(mote.Error):
        kept("llama").detect(PIXELS)
    with pytest.raises(mote.Error):
        kept("bert_classifier").speak("hello")


def test_a_file_cut_anywhere_is_refused_or_whole(file_of, tmp_path):
    whole = file_of("bert_sentence_dense").read_bytes()
    for at in range(200):
        cut = whole[: len(whole) * at // 200]
        (tmp_path / "cut.mote").write_bytes(cut)
        with pytest.raises(mote.Error) as caught:
            mote.open(tmp_path / "cut.mote")
        assert caught.value.sentence and caught.value.status
        if cut:
            with pytest.raises(mote.Error):
                mote.open(cut)
    for wrong in (b"", bytearray()):
        with pytest.raises(ValueError, match="empty"):
            mote.open(wrong)
    with pytest.raises(mote.Error):
        mote.open(tmp_path / "none.mote")
    with pytest.raises(mote.Error):
        mote.open(tmp_path)


def test_a_changed_file_is_found_by_its_hashes(file_of, tmp_path):
    data = bytearray(file_of("bert_sentence_dense").read_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(mote.Error, match="hash"):
        mote.open(bytes(data), hashes=True)
    with mote.open(bytes(data)) as model, pytest.raises(mote.Error):
        model.verify()


def test_a_closed_model_raises(file_of):
    model = mote.open(file_of("llama"), threads=1)
    chat = model.chat(tokens=2)
    answer = model.generate("hello", tokens=2)
    model.close()
    model.close()
    for call in (
        lambda: model.generate("hello"),
        lambda: model.embed("hello"),
        lambda: model.tokenize("hello"),
        lambda: model.detokenize([1]),
        lambda: model.info(),
        lambda: model.verify(),
        lambda: model.chat(),
        lambda: model.cancel(),
        lambda: chat.say("hello"),
        lambda: chat.save_state(),
        lambda: chat.reset(),
        lambda: chat.load_state(b"x"),
    ):
        with pytest.raises(mote.Error, match="closed"):
            call()
    with pytest.raises(mote.Error, match="closed"):
        answer.read()
        raise mote.Error("it had ended before the model was closed")
    assert model.closed and "closed" in repr(model)


def test_errors_go_through_pickle():
    error = pickle.loads(pickle.dumps(mote.Error("it is wrong", "bad input", 10)))
    assert (error.sentence, error.status) == ("it is wrong", "bad input")
    assert str(error) == "it is wrong; truncate=True cuts what is longer"
    assert isinstance(pickle.loads(pickle.dumps(mote.Cancelled("x"))), mote.Cancelled)
