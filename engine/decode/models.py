"""Load weights and tokenizers; the only door to transformers.

Models are kept in the layout that transformers reads (`config.json`, `model.safetensors`,
tokenizer files), so that the same bytes serve our own forward pass and the peers it is measured
against. The draft's head has fewer rows than the vocabulary; as a peer its logits are widened with
minus infinity, so that any decoder can use it.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.decode.linear import Weight
from engine.decode.llama import Layer, Llama, Shape
from engine.decode.registry import Entry, require

WEIGHTS = "model.safetensors"
HEAD_TOKENS = "head_tokens"


@dataclass(frozen=True)
class Chat:
    """A tokenizer with its chat format."""

    tokenizer: Any
    end: int

    def prompt(self, text: str) -> list[int]:
        """Token ids of one user message, up to where the assistant's answer starts."""
        message = [{"role": "user", "content": text}]
        ids: list[int] = self.tokenizer.apply_chat_template(
            message, add_generation_prompt=True, return_dict=False
        )
        return ids

    def text(self, ids: list[int]) -> str:
        """The text of token ids, as a server would send it."""
        decoded: str = self.tokenizer.decode(ids, skip_special_tokens=False)
        return decoded


def load(name: str) -> Llama:
    """A fetched model in fp32, ready for `llama.forward`."""
    found = require(name)
    config = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))
    return from_tensors(load_file(found.folder / WEIGHTS), config)


def load_chat(name: str) -> Chat:
    """The tokenizer of a fetched model."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(require(name).folder)
    return Chat(tokenizer, int(tokenizer.eos_token_id))


def from_tensors(tensors: dict[str, Tensor], config: dict[str, Any]) -> Llama:
    """Our form of a model from tensors named as in transformers' Llama or Mixtral."""
    shape = Shape(
        width=config["hidden_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_width=config["head_dim"],
        vocabulary=config["vocab_size"],
        rope_theta=config["rope_parameters"]["rope_theta"],
        norm_epsilon=config["rms_norm_eps"],
        chosen=config.get("num_experts_per_tok", 0),
    )
    layers = tuple(_layer(tensors, f"model.layers.{i}.") for i in range(config["num_hidden_layers"]))
    embedding = tensors["model.embed_tokens.weight"]
    head = Weight(tensors.get("lm_head.weight", embedding))
    return Llama(shape, embedding, layers, tensors["model.norm.weight"], head, tensors.get(HEAD_TOKENS))


def _layer(tensors: dict[str, Tensor], at: str) -> Layer:
    def stacked(*names: str) -> Weight:
        return Weight(torch.cat([tensors[f"{at}{name}.weight"] for name in names]))

    attention_norm = tensors[f"{at}input_layernorm.weight"]
    query_key_value = stacked("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
    attention_out = stacked("self_attn.o_proj")
    mlp_norm = tensors[f"{at}post_attention_layernorm.weight"]
    router = tensors.get(f"{at}mlp.gate.weight")
    if router is None:
        gate_up, down = stacked("mlp.gate_proj", "mlp.up_proj"), stacked("mlp.down_proj")
    else:
        gate_up, down = _experts(tensors, f"{at}mlp.experts.")
    return Layer(attention_norm, query_key_value, attention_out, mlp_norm, gate_up, down, router)


def _experts(tensors: dict[str, Tensor], at: str) -> tuple[Weight, Weight]:
    """All experts of a layer side by side: (2 hidden, width) and (width, hidden)."""
    gate, up = tensors[f"{at}gate_up_proj"].chunk(2, dim=1)  # (experts, units, width) each
    down = tensors[f"{at}down_proj"]  # (experts, width, units)
    return (
        Weight(torch.cat([gate.flatten(0, 1), up.flatten(0, 1)])),
        Weight(down.transpose(0, 1).flatten(1).contiguous()),
    )


def convert_gguf(gguf: Path, folder: Path) -> None:
    """Dequantise a GGUF file to fp32 once, and keep model and tokenizer in `folder`."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with _quiet():
        model = AutoModelForCausalLM.from_pretrained(
            gguf.parent, gguf_file=gguf.name, dtype=torch.float32, local_files_only=True
        )
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
    tied = model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()
    tensors = {
        k: v.contiguous() for k, v in model.state_dict().items() if not (tied and k == "lm_head.weight")
    }
    config = model.config.to_dict()
    config.pop("quantization_config", None)
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    tokenizer.save_pretrained(folder)
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def student(teacher: Entry, layers: tuple[int, ...], head_tokens: Tensor) -> Any:
    """A trainable copy of some of the teacher's layers with a head over `head_tokens` (a torch module)."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = json.loads((teacher.folder / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(teacher.folder / WEIGHTS)
    keep = {k: v for k, v in tensors.items() if not k.startswith("model.layers.")}
    for new, old in enumerate(layers):
        at = f"model.layers.{old}."
        keep |= {f"model.layers.{new}.{k[len(at) :]}": v for k, v in tensors.items() if k.startswith(at)}
    config |= {"num_hidden_layers": len(layers), "tie_word_embeddings": False}
    keep["lm_head.weight"] = keep["model.embed_tokens.weight"][head_tokens].clone()
    model = LlamaForCausalLM(LlamaConfig(**config))
    model.lm_head = torch.nn.Linear(config["hidden_size"], len(head_tokens), bias=False)
    model.load_state_dict(keep)
    model.model.embed_tokens.weight.requires_grad_(False)
    return model


def save_student(model: Any, head_tokens: Tensor, folder: Path) -> None:
    """Keep a trained student in `folder`, in the layout `load` reads."""
    tensors = {k: v.detach().contiguous() for k, v in model.state_dict().items()}
    save_file(tensors | {HEAD_TOKENS: head_tokens}, folder / WEIGHTS, metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(model.config.to_dict(), indent=2), encoding="utf-8")


def save_experts(tensors: dict[str, Tensor], parent: Any, experts: int, chosen: int, folder: Path) -> None:
    """Keep a model cut into experts, its tensors named as in transformers' Mixtral, and its configuration."""
    from transformers import MixtralConfig

    inherited = (
        "vocab_size hidden_size num_hidden_layers num_attention_heads num_key_value_heads head_dim"
        " hidden_act max_position_embeddings rms_norm_eps rope_parameters tie_word_embeddings"
        " bos_token_id eos_token_id pad_token_id"
    )
    config = MixtralConfig(
        **{name: getattr(parent, name) for name in inherited.split()},
        intermediate_size=parent.intermediate_size // experts,
        num_local_experts=experts,
        num_experts_per_tok=chosen,
    )
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config.to_dict(), indent=2), encoding="utf-8")


def peer(name: str) -> Any:
    """The same weights as a transformers model, for comparison."""
    from transformers import LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM

    found = require(name)
    fields = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(found.folder / WEIGHTS)
    head_tokens = tensors.pop(HEAD_TOKENS, None)

    if fields["model_type"] == "mixtral":
        # grouped products want rows of sixteen bytes, which experts this small need not have
        model: Any = MixtralForCausalLM(MixtralConfig(**fields, experts_implementation="eager"))
    else:
        model = LlamaForCausalLM(LlamaConfig(**fields))
    config = model.config
    if head_tokens is None:
        tensors.setdefault("lm_head.weight", tensors["model.embed_tokens.weight"])
    else:
        model.lm_head = torch.nn.Linear(config.hidden_size, len(head_tokens), bias=False)
        model.register_forward_hook(functools.partial(_widen, head_tokens))
    model.load_state_dict(tensors)
    model.generation_config.eos_token_id = config.eos_token_id
    model.generation_config.pad_token_id = config.pad_token_id
    return model.eval()


def module(name: str, device: str = "cuda") -> Any:
    """A large model as transformers loads it, in the precision that its entry names, NF4 or bf16.

    Whether its weights are packed then is for the caller to look at: flags do not tell.
    """
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig

    found = require(name)
    four = BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
    )
    with _quiet():
        model: Any = AutoModelForCausalLM.from_pretrained(
            found.folder,
            dtype=torch.bfloat16,
            device_map=device,
            use_safetensors=True,
            local_files_only=True,
            **({"quantization_config": four} if found.precision == "NF4" else {}),
        )
    return model.eval()


def module_cache(of: Any) -> Any:
    """An empty cache of keys and values for a module."""
    from transformers import DynamicCache

    return DynamicCache(config=of.config)


def _widen(head_tokens: Tensor, model: Any, _: Any, output: Any) -> Any:
    """Put the logits of a small head where their tokens stand, minus infinity elsewhere."""
    whole = output.logits.new_full((*output.logits.shape[:-1], model.config.vocab_size), -torch.inf)
    whole[..., head_tokens] = output.logits
    output.logits = whole
    return output


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide transformers' own progress bars and notices while it loads."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(before)
        logging.enable_progress_bar()
