# SPDX-License-Identifier: Apache-2.0
"""Calls that end early: by signals, by cancel, by closing, by the collector, by fork and at the interpreter's end."""
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import mote
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the tests send signals of POSIX")
FOREVER = {"tokens": 10**6, "context_full": "slide", "ignore_stop": True}
MANY = ["hello world"] * 400_000  # texts that one call computes for seconds


class Rang(Exception):
    pass


@pytest.fixture
def alarm():
    """Sends SIGALRM to this process a little later, whose handler raises Rang."""

    def ring(number, frame):
        raise Rang

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds=0.1: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def interrupt_soon():
    thread = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    thread.start()
    return thread


def test_ctrl_c_ends_one_long_call_of_the_library(kept):
    model = kept("bert_sentence_dense")
    model.embed("hello")
    thread = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        model.embed(MANY, batch_size=len(MANY))
    thread.join()
    assert model.embed("hello").shape == (model.width,)


def test_a_handler_that_raises_ends_a_call_and_one_that_does_not_lets_it_be(kept, alarm):
    model = kept("bert_sentence_dense")
    alarm()
    with pytest.raises(Rang):
        model.embed(MANY, batch_size=len(MANY))
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    vectors = model.embed(MANY[:20_000], batch_size=20_000)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert rung and vectors.shape == (20_000, model.width)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.generate("hello", **FOREVER).read(),
        lambda model: model.generate("hello", **FOREVER).result,
        lambda model: list(model.generate("hello", **FOREVER)),
        lambda model: model.chat(greedy=True, **FOREVER).say("hello").read(),
    ],
)
def test_ctrl_c_ends_an_answer(fresh, kept, call):
    model = fresh("llama", context=60_000)
    thread = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        call(model)
    thread.join()
    assert kept("llama").generate("hello", tokens=2).result["finish"] == "length"


def test_ctrl_c_ends_calls_with_listeners(kept, alarm):
    model = kept("wav2vec2_ctc")
    samples = np.zeros(16000 * 3600, np.float32)
    for listeners in ({}, {"on_segment": lambda *_: None}):
        alarm(0.2)
        with pytest.raises(Rang):
            model.transcribe(samples, 16000, **listeners)


def test_a_listener_that_raises_ends_the_call(kept):
    def stop(*_):
        raise Rang

    with pytest.raises(Rang):
        sound = np.sin(np.arange(16000 * 60, dtype=np.float32) / 7)
        kept("wav2vec2_ctc").transcribe(sound, 16000, on_text=stop)
    with pytest.raises(Rang):
        kept("bert_sentence_dense").embed(["hello"] * 10, batch_size=1, progress=stop)


def test_a_conversion_is_interrupted_and_leaves_nothing(alarm, tmp_path):
    from conftest import ROOT

    rung = threading.Event()

    def ring(number, frame):
        rung.set()
        raise Rang

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        while not rung.is_set():
            mote.convert(ROOT / "models/commands", tmp_path / "x.mote")
    except Rang:
        pass
    assert rung.is_set()
    assert [file for file in tmp_path.iterdir() if file.name != "x.mote"] == []


def test_an_answer_ends_by_cancel_with_what_it_has(kept):
    answer = kept("llama").generate("hello", **FOREVER)
    first = next(answer)
    answer.cancel()
    rest = list(answer)
    assert answer.result["finish"] == "cancelled"
    assert answer.result["text"] == first + "".join(rest) == answer.read()


def test_calls_of_other_threads_end_by_cancel_and_by_close(fresh):
    for end in ("cancel", "close"):
        model = fresh("bert_sentence_dense")
        raised, begun = [], threading.Event()

        def embed():
            begun.set()
            try:
                model.embed(MANY, batch_size=len(MANY))
            except mote.Error as error:
                raised.append(error)

        thread = threading.Thread(target=embed)
        thread.start()
        begun.wait()
        while thread.is_alive():
            getattr(model, end)()
            thread.join(0.05)
            if end == "close":
                break
        thread.join()
        assert isinstance(raised[0], mote.Cancelled) or (end == "close" and "closed" in str(raised[0]))


def test_closing_ends_answers_and_chats_in_the_middle(fresh):
    model = fresh("llama", sessions=2, context=60_000)
    chat = model.chat(greedy=True, **FOREVER)
    answers = [model.generate("hello", **FOREVER), chat.say("hello")]
    for answer in answers:
        next(answer)
    model.close()
    for answer in answers:
        try:
            answer.read()
            assert answer.result["finish"] == "cancelled"
        except mote.Error as error:
            assert "closed" in str(error)


def test_an_answer_that_nobody_holds_ends_and_lets_go_of_the_model(file_of):
    model = mote.open(file_of("llama"), threads=1)
    answer = model.generate("hello", **FOREVER)
    next(answer)
    stream, handle = answer._stream, weakref.ref(model._handle)
    del model
    next(answer)  # keeps the model
    del answer
    gc.collect()
    assert stream.ended.wait(20)
    del stream
    for _ in range(200):
        gc.collect()
        if handle() is None:
            break
        time.sleep(0.05)
    assert handle() is None


def test_answers_are_left_in_the_middle_again_and_again(fresh):
    model = fresh("llama", context=60_000)
    for _ in range(30):
        for _ in model.generate("hello", **FOREVER):
            break
        gc.collect()  # which CPython does not need
    chat = model.chat(greedy=True, **FOREVER)
    for _ in range(10):
        next(chat.say("hello"))
        gc.collect()
    assert model.generate("hello", tokens=2).result["finish"] == "length"


def test_two_threads_on_one_chat_are_an_error(fresh):
    chat = fresh("llama", context=60_000).chat(greedy=True, **FOREVER)
    first = chat.say("hello")
    next(first)
    with pytest.raises(mote.Error, match="busy"):
        chat.say("hello").read()
    with pytest.raises(mote.Error, match="busy"):
        chat.save_state()
    first.cancel()
    assert chat.say("hello")
    chat.close()


def test_eight_threads_on_one_embedder_get_the_right_vectors(fresh):
    model = fresh("bert_sentence_dense", sessions=2)
    texts = [f"text {'a ' * (i % 4)}{i}" for i in range(40)]
    expected = model.embed(texts)
    right = []

    def embed(thread):
        for turn in range(20):
            at = (7 * thread + turn) % 30
            right.append(np.array_equal(model.embed(texts[at : at + 10], batch_size=3), expected[at : at + 10]))

    threads = [threading.Thread(target=embed, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 20 * len(threads) and all(right)


def in_child(body):
    """Runs body() in a fork of this process; returns its exit code, 0 if it returned True."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = 0 if body() else 1
        except BaseException as error:
            os.write(2, repr(error).encode())
        os._exit(code)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hung"


def test_a_child_of_fork_works_with_the_model_and_its_chats_raise(fresh):
    model = fresh("llama", threads=2)
    embedder = fresh("bert_sentence_dense", threads=2)
    expected = embedder.embed("hello")
    chat = model.chat(tokens=2)
    chat.say("hello").read()
    running = model.generate("hello", **FOREVER)
    next(running)

    def raises(call):
        try:
            call()
        except mote.Error as error:
            return "fork" in str(error)
        return False

    def body():
        return (
            np.array_equal(embedder.embed("hello"), expected)
            and model.generate("hello", tokens=2).result["finish"] == "length"
            and raises(lambda: next(running))
            and raises(lambda: chat.say("hello"))
            and raises(lambda: chat.save_state())
            and model.chat(tokens=2).say("hello").result["finish"] == "length"
            and (embedder.close(), model.close(), True)[-1]
        )

    assert in_child(body) == 0
    assert next(running)
    running.cancel()
    assert chat.say("again").result["finish"] == "length"


def test_a_child_forked_while_eight_threads_compute_works(fresh):
    model = fresh("bert_sentence_dense", sessions=2)
    expected = model.embed("hello")
    stop = threading.Event()

    def embed():
        while not stop.is_set():
            model.embed(["hello world", "hello"])

    threads = [threading.Thread(target=embed) for _ in range(8)]
    for thread in threads:
        thread.start()
    codes = [in_child(lambda: np.array_equal(model.embed("hello"), expected)) for _ in range(20)]
    stop.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 20


def run(program, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        capture_output=True, text=True, timeout=120, **options,
    )  # fmt: skip


def test_a_process_ends_in_the_middle_of_answers(file_of):
    done = run(
        """
        import sys, threading, mote
        model = mote.open(sys.argv[1], threads=2, sessions=3)
        answer = model.generate("hello", tokens=10**6, context_full="slide", ignore_stop=True)
        said = model.chat(tokens=10**6, context_full="slide", ignore_stop=True).say("hello")
        print(bool(next(answer)), bool(next(said)))
        def forever():
            while True:
                model.generate("hello", tokens=5).read()
        threading.Thread(target=forever, daemon=True).start()
        """,
        file_of("llama"),
    )
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def test_a_script_that_is_interrupted_ends_as_python_does(file_of):
    done = run(
        """
        import os, signal, sys, threading, mote
        model = mote.open(sys.argv[1], threads=2)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        for part in model.generate("hello", tokens=10**7, context_full="slide", ignore_stop=True):
            pass
        """,
        file_of("llama"),
    )
    assert done.returncode == -signal.SIGINT and done.stderr.rstrip().endswith("KeyboardInterrupt")
