# SPDX-License-Identifier: Apache-2.0
"""Classes after other packages', with the real packages where these are installed."""
import json
import shutil

import mote
import numpy as np
import pytest
from conftest import GOLDEN

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
