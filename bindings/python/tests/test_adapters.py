# SPDX-License-Identifier: Apache-2.0
"""Classes after other packages', with the real packages where these are installed."""
import json
import shutil

import mote
import numpy as np
import pytest
from conftest import GOLDEN, ROOT

PROMPTS = {"query": "the query ", "document": "a "}


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    """Returns a model of vectors with prompts for queries and documents."""
    folder = tmp_path_factory.mktemp("prompted")
    shutil.copytree(GOLDEN / "models/bert_sentence_dense", folder / "model")
    file = folder / "model/config_sentence_transformers.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "prompts": PROMPTS, "similarity_fn_name": "dot"}))
    mote.convert(folder / "model", folder / "prompted.mote", type="f32")
    with mote.open(folder / "prompted.mote", threads=1) as model:
        yield model


def test_sentence_transformer_encodes(prompted):
    model = mote.SentenceTransformer(prompted)
    texts = ["hello", "a cat"]
    vectors = model.encode(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (2, model.get_sentence_embedding_dimension())
    assert np.array_equal(vectors, prompted.embed(texts))
    assert np.array_equal(model.encode("hello"), vectors[0])
    assert np.array_equal(model.encode(texts, prompt="a "), prompted.embed([f"a {text}" for text in texts]))
    assert np.array_equal(model.encode(texts, prompt_name="query"), model.encode_query(texts))
    assert np.array_equal(model.encode_query("hello"), prompted.embed("the query hello"))
    assert np.array_equal(model.encode_document(texts), prompted.embed(texts, prompt="a "))
    assert model.encode(texts, batch_size=1, show_progress_bar=True).shape == vectors.shape
    assert model.encode([]).shape == (0, model.get_sentence_embedding_dimension())
    assert model.encode(["hello " * 1000]).shape == (1, model.get_sentence_embedding_dimension())


def test_sentence_transformer_cuts_and_normalizes(prompted):
    model = mote.SentenceTransformer(prompted, truncate_dim=5, prompts={"mine": "the "}, default_prompt_name="mine")
    whole = prompted.embed(["hello", "a cat"], prompt="the ")
    assert np.array_equal(model.encode(["hello", "a cat"]), whole[:, :5])
    cut = model.encode(["hello", "a cat"], truncate_dim=3, normalize_embeddings=True)
    assert np.allclose(cut, whole[:, :3] / np.linalg.norm(whole[:, :3], axis=1, keepdims=True), atol=1e-6)
    assert model.get_sentence_embedding_dimension() == 5


def test_sentence_transformer_compares_as_the_models_authors_say(prompted, kept):
    a, b = np.eye(3, dtype=np.float32)[:2] * 2, np.eye(3, dtype=np.float32)
    assert mote.SentenceTransformer(prompted).similarity_fn_name == "dot"
    expected = {
        "dot": 2 * np.eye(3)[:2],
        "cosine": np.eye(3)[:2],
        "euclidean": -np.sqrt([[1, 5, 5], [5, 1, 5]]),
        "manhattan": -np.array([[1, 3, 3], [3, 1, 3]]),
    }
    for name, alike in expected.items():
        model = mote.SentenceTransformer(kept("bert_sentence_dense"), similarity_fn_name=name)
        assert np.allclose(model.similarity(a, b), alike)
        assert np.allclose(model.similarity_pairwise(a, b[:2]), np.diagonal(alike))
        assert np.allclose(model.similarity(a[0], b[0]), alike[0, 0])


def test_what_is_not_supported_is_refused_by_its_name(prompted):
    model = mote.SentenceTransformer(prompted)
    for argument in (
        {"output_value": "token_embeddings"}, {"precision": "int8"}, {"device": "cuda"}, {"pool": object()},
    ):  # fmt: skip
        with pytest.raises(TypeError, match=next(iter(argument))):
            model.encode("hello", **argument)
    with pytest.raises(TypeError, match="device"):
        mote.SentenceTransformer(prompted, device="cuda")
    with pytest.raises(ValueError, match="no prompt 'x'; there are"):
        model.encode("hello", prompt_name="x")
    with pytest.raises(ValueError, match="similarity_fn_name"):
        mote.SentenceTransformer(prompted, similarity_fn_name="hamming")
    for argument in ({"cache_dir": "x"}, {"cuda": True}, {"providers": ["x"]}, {"lazy_load": True}):
        with pytest.raises(TypeError, match=next(iter(argument))):
            mote.TextEmbedding(prompted, **argument)
    with pytest.raises(TypeError, match="parallel"):
        mote.TextEmbedding(prompted).embed("hello", parallel=2)
    with pytest.raises(TypeError, match="threads"):
        mote.TextEmbedding(prompted, threads=2)
    with pytest.raises(AttributeError, match="no_such"):
        mote.no_such


def test_tensors_come_where_torch_is(prompted):
    model = mote.SentenceTransformer(prompted)
    try:
        import torch
    except ImportError:
        for argument in ({"convert_to_tensor": True}, {"convert_to_numpy": False}):
            with pytest.raises(TypeError, match=next(iter(argument))):
                model.encode(["hello"], **argument)
        return
    assert torch.equal(model.encode(["hello"], convert_to_tensor=True)[0], model.encode(["hello"], convert_to_numpy=False)[0])


def test_text_embedding_gives_a_vector_at_a_time(prompted):
    model = mote.TextEmbedding(prompted)
    texts = ["hello", "a cat"]
    given = model.embed(iter(texts), batch_size=1)
    assert np.array_equal(next(given), prompted.embed("hello"))
    assert len(list(given)) == 1 and len(list(model.embed("hello"))) == 1
    assert np.array_equal(list(model.query_embed("hello"))[0], prompted.embed("the query hello"))
    assert np.array_equal(list(model.passage_embed(texts)), prompted.embed(texts, prompt="a "))
    assert model.embedding_size == prompted.width


def test_text_embedding_takes_the_arguments_of_fastembed():
    import inspect

    theirs = pytest.importorskip("fastembed").TextEmbedding
    for name in ("__init__", "embed", "query_embed", "passage_embed"):
        ours = list(inspect.signature(getattr(mote.TextEmbedding, name)).parameters)[:-1]
        assert ours == list(inspect.signature(getattr(theirs, name)).parameters)[:-1]


def test_langchain_ranks_documents(prompted):
    vectorstores = pytest.importorskip("langchain_core.vectorstores")
    from mote.langchain import MoteEmbeddings

    embeddings = MoteEmbeddings(prompted, batch_size=2)
    documents = embeddings.embed_documents(["hello", "a cat", "the world"])
    assert np.allclose(documents, prompted.embed(["hello", "a cat", "the world"], prompt="a "))
    assert np.allclose(embeddings.embed_query("hello"), prompted.embed("the query hello"))
    store = vectorstores.InMemoryVectorStore(MoteEmbeddings(prompted))
    store.add_texts(["hello", "a cat", "the world"])
    assert len(store.similarity_search("hello", k=2)) == 2
    with pytest.raises(TypeError, match="threads"):
        MoteEmbeddings(prompted, threads=1)


def test_llama_index_embeds_nodes(prompted):
    schema = pytest.importorskip("llama_index.core.schema")
    import asyncio

    from mote.llama_index import MoteEmbedding

    embedding = MoteEmbedding(prompted, embed_batch_size=2)
    assert np.allclose(embedding.get_query_embedding("hello"), prompted.embed("the query hello"))
    assert np.allclose(embedding.get_text_embedding_batch(["hello", "a cat"]), prompted.embed(["hello", "a cat"], prompt="a "))
    assert np.allclose(asyncio.run(embedding.aget_text_embedding("hello")), prompted.embed("hello", prompt="a "))
    nodes = embedding([schema.TextNode(text="hello")])
    assert np.allclose(nodes[0].embedding, prompted.embed("hello", prompt="a "))
    assert embedding.model_name == prompted.name


@pytest.fixture
def llm_with_models(file_of, tmp_path, monkeypatch):
    """Returns the package llm, and its command, where `llm mote add` was called."""
    pytest.importorskip("llm")
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    import llm
    from click.testing import CliRunner
    from llm.cli import cli
    from llm.plugins import pm

    from mote import llm_plugin

    if not pm.is_registered(llm_plugin):
        pm.register(llm_plugin)
        llm_plugin.register_commands(cli)
    runner = CliRunner()
    for name in ("llama", "bert_sentence_dense"):
        added = runner.invoke(cli, ["mote", "add", f"my-{name}", str(file_of(name))])
        assert added.exit_code == 0, added.output
    yield llm, lambda *arguments: runner.invoke(cli, list(arguments))
    for model in llm_plugin._open.values():
        model.close()
    llm_plugin._open.clear()


def test_llm_answers_with_options_and_keeps_conversations(llm_with_models, kept):
    llm, command = llm_with_models
    model = llm.get_model("my-llama")
    response = model.prompt("hello", tokens=4, temp=1.5, seed=3)
    parts = list(response)
    direct = kept("llama").generate([{"role": "user", "content": "hello"}], tokens=4, temp=1.5, seed=3)
    assert "".join(parts) == direct.read() == response.text()
    assert response.usage().output == 4
    conversation = model.conversation()
    first = conversation.prompt("hello", system="be short", tokens=4).text()
    second = conversation.prompt("again", tokens=4).text()
    turns = [
        {"role": "system", "content": "be short"}, {"role": "user", "content": "hello"},
        {"role": "assistant", "content": first}, {"role": "user", "content": "again"},
    ]  # fmt: skip
    assert kept("llama").generate(turns, tokens=4).read() == second
    said = command("-m", "my-llama", "hello", "-o", "tokens", "4", "--no-log")
    assert said.exit_code == 0 and said.output.strip() == kept("llama").generate(
        [{"role": "user", "content": "hello"}], tokens=4
    ).read().strip()
    assert command("-m", "my-llama", "hello", "-o", "tokenz", "4").exit_code != 0


def test_llm_embeds_and_forgets_models(llm_with_models, kept):
    llm, command = llm_with_models
    model = llm.get_embedding_model("my-bert_sentence_dense")
    vectors = list(model.embed_multi(["hello", "a cat"]))
    assert np.allclose(vectors, kept("bert_sentence_dense").embed(["hello", "a cat"]))
    assert np.allclose(model.embed("hello"), vectors[0])
    done = command("embed", "-m", "my-bert_sentence_dense", "-c", "hello")
    assert done.exit_code == 0 and np.allclose(json.loads(done.output), vectors[0])
    assert "my-llama" in command("mote", "list").output
    assert command("mote", "remove", "my-llama").exit_code == 0
    assert "my-llama" not in command("mote", "list").output
    assert command("mote", "remove", "my-llama").exit_code != 0


SPECIAL = {"<|vision_start|>": 1, "<|vision_end|>": 2, "<|im_start|>": 96, "<|im_end|>": 97, "<|image_pad|>": 99}
PICTURE_CHAT = (
    "{%- for message in messages -%}{{- '<|im_start|>' + message.role[0] + '\\n' -}}"
    "{%- for part in message.content -%}{%- if part.type == 'image' -%}"
    "<|vision_start|><|image_pad|><|vision_end|>{%- else -%}{{- part.text -}}{%- endif -%}{%- endfor -%}"
    "{{- '<|im_end|>\\n' -}}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>a\\n' -}}{%- endif -%}"
)


@pytest.fixture(scope="module")
def reads_and_sees(tmp_path_factory):
    """Returns the two files of a model of pictures and texts, whose tokenizer has a token for each letter."""
    folder = tmp_path_factory.mktemp("pictures")
    source = folder / "model"
    shutil.copytree(GOLDEN / "models/qwen3_vl", source)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU:.?!\n"
    vocab = {"<unk>": 0, **{letter: 3 + at for at, letter in enumerate(letters)}, " ": 3 + len(letters), **SPECIAL}
    flags = {"special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False}
    tokenizer = {
        "version": "1.0", "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
        "added_tokens": [{"id": at, "content": text, **flags} for text, at in SPECIAL.items()],
        "model": {
            "type": "BPE", "unk_token": "<unk>", "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": [],
        },
    }  # fmt: skip
    processor = {
        "image_processor_type": "Qwen2VLImageProcessorFast", "size": {"shortest_edge": 256, "longest_edge": 512},
        "patch_size": 4, "temporal_patch_size": 2, "merge_size": 2, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
    }  # fmt: skip
    (source / "tokenizer.json").write_text(json.dumps(tokenizer))
    (source / "chat_template.json").write_text(json.dumps({"chat_template": PICTURE_CHAT}))
    (source / "preprocessor_config.json").write_text(json.dumps(processor))
    reads, sees = folder / "reads.mote", folder / "sees.mote"
    mote.convert(source, reads, type="f32")
    mote.convert(source, sees, type="f32", tower="vision")
    return reads, sees


def test_llm_takes_pictures_as_attachments(llm_with_models, reads_and_sees):
    llm, command = llm_with_models
    reads, sees = reads_and_sees
    added = command("mote", "add", "my-qwen", str(reads), "--vision", str(sees))
    assert added.exit_code == 0, added.output
    grid, two = (ROOT / "tests/pictures/files" / name for name in ("grid.png", "two.png"))
    options = {"tokens": 4, "greedy": True, "ignore_stop": True}
    with mote.open(reads, vision=sees, threads=1) as model:
        direct = {file: model.generate("hi", images=[file], chat=True, **options).read() for file in (grid, two)}
        both = model.generate("hi", images=[grid, two], chat=True, system="be brief", **options).read()
    assert direct[grid] != direct[two]
    model = llm.get_model("my-qwen")
    assert model.prompt("hi", attachments=[llm.Attachment(path=str(grid))], **options).text() == direct[grid]
    assert model.prompt("hi", attachments=[llm.Attachment(content=two.read_bytes())], **options).text() == direct[two]
    attachments = [llm.Attachment(path=str(file)) for file in (grid, two)]
    response = model.prompt("hi", attachments=attachments, system="be brief", **options)
    assert response.text() == both and response.usage().output == 4
    words = ["-o", "tokens", "4", "-o", "greedy", "1", "-o", "ignore_stop", "1", "--no-log"]
    said = command("-m", "my-qwen", "hi", "-a", str(grid), *words)
    assert said.exit_code == 0 and said.output.strip() == direct[grid].strip()


def test_llm_refuses_attachments_that_the_model_does_not_take(llm_with_models, reads_and_sees):
    llm, command = llm_with_models
    grid = ROOT / "tests/pictures/files/grid.png"
    with pytest.raises(ValueError, match="does not support attachments"):
        llm.get_model("my-llama").prompt("hi", attachments=[llm.Attachment(path=str(grid))], tokens=1).text()
    refused = command("-m", "my-llama", "hi", "-a", str(grid), "--no-log")
    assert refused.exit_code != 0 and "attachment" in refused.output
    reads, sees = reads_and_sees
    assert command("mote", "add", "my-qwen", str(reads), "--vision", str(sees)).exit_code == 0
    model = llm.get_model("my-qwen")
    sound = llm.Attachment(type="audio/wav", content=b"RIFF")
    with pytest.raises(ValueError, match="audio/wav"):
        model.prompt("hi", attachments=[sound], tokens=1).text()
    damaged = llm.Attachment(type="image/png", content=grid.read_bytes()[:40])
    with pytest.raises(mote.Error, match="picture|PNG|cut"):
        model.prompt("hi", attachments=[damaged], tokens=1).text()
    conversation = model.conversation()
    conversation.prompt("hi", attachments=[llm.Attachment(path=str(grid))], tokens=1, greedy=True).text()
    with pytest.raises(llm.ModelError, match="only message"):
        conversation.prompt("again", tokens=1).text()
    wrong = command("mote", "add", "blind", str(reads), "--vision", str(reads))
    assert wrong.exit_code != 0 and "is no vision tower" in wrong.output
    no_model = command("mote", "add", "blind", str(grid))
    assert no_model.exit_code != 0 and "Error: " in no_model.output and "grid.png" in no_model.output
    assert "blind" not in command("mote", "list").output
