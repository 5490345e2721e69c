"""Sentence models as small as can be: every word has a vector drawn by its model's seed, and that is all it knows."""

import json
import re
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

DAY = Path(__file__).parents[3] / "examples" / "day.jsonl"


@cache
def words() -> list[str]:
    said = " ".join(json.loads(line).get("text") or "" for line in DAY.read_text().splitlines())
    return ["[UNK]", *sorted(set(re.findall(r"\w+|[^\w\s]+", said.lower())))]


@cache
def tiny_model(dim: int, seed: int = 0, *, fed: str = "input_ids", pooled: bool = False) -> Path:
    """A folder with ``model.onnx`` and ``tokenizer.json``. ``pooled``: it pools by itself."""
    folder = Path(mkdtemp(prefix="submind-model-"))
    table = np.random.default_rng(seed).normal(size=(len(words()), dim)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", fed], ["tokens"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["tokens"], ["sentence"], axes=[1], keepdims=0))
    told = helper.make_tensor_value_info("sentence" if pooled else "tokens", TensorProto.FLOAT, None)
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(fed, TensorProto.INT64, ["batch", "length"])],
        [told],
        [numpy_helper.from_array(table, "table")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(made, folder / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(words())}, "[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
