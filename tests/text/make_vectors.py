#!/usr/bin/env python3
"""Writes what text.py compares with: tokenizer.json, a small vocabulary that the package tokenizers has trained on a drawn
text, and ids.json, texts of all sorts with the ids that it gives them.

    pip install tokenizers==0.23.3
    python3 tests/text/make_vectors.py

The vocabulary has the pattern of Llama 3; `variants` says what others make of the same tokens.
"""
import json
import pathlib
import random
import sys

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from variants import LLAMA, variants  # noqa: E402

here = pathlib.Path(__file__).resolve().parent
drawn = random.Random(7)
WORDS = ("the quick brown fox jumps over lazy dog don't we're I've I'll he'd I'm it's über zwölf 東京 привет мир naïve "
         "café 1234 56 7 2026 — … \U0001f600 \U0001f468\u200d\U0001f469").split(" ")
ENDS = ["\n", "\n\n", "  \n", ".\n", "!\n\t"]
text = "".join(" ".join(drawn.choices(WORDS, k=8)) + drawn.choice(ENDS) for _ in range(400))

PARTS = ["'s", "'S", "'\u017f", "'t", "'RE", "'Ve", "'m", "'LL", "'d", "'x", "'", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000",
         "\u0085", "\u2028", "\x1c", "\x00", "ab", "Z", "\u00e9", "e\u0301", "\u00df", "\u5317", "123", "4567", "\u0663\u0664", "\u00bd",
         "\u2167", "\U0001f600", "\U0001f468\u200d\U0001f469", "...", "!?", "_", "-", "$", "<|endoftext|>", "<|end|>", "<|start|>",
         "<|", "don't", " the", " quick", "\n\n", " \n", "\U00032000", "\U000113b0", "\ufb06", "\U0010ffff"]
TEXTS = ["", " ", "   ", "\n", "  x", "x  ", "a\n\n\n b", "<|end|><|end|>", " <|end|> ", "it's its' it''s", "1234567890", "aaaaaaaaaaaaaaaa" * 9]


def main():
    whole = Tokenizer(models.BPE(ignore_merges=True))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    whole.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA), "isolated"), level])
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<|endoftext|>", "<|end|>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    whole.train_from_iterator([text], trainer)
    whole.add_special_tokens(["<|start|>"])
    content = json.loads(whole.to_str())
    (here / "tokenizer.json").write_text(json.dumps(content, ensure_ascii=False) + "\n")
    texts = TEXTS + ["".join(drawn.choices(PARTS, k=drawn.randrange(4, 16))) for _ in range(60)]
    expected = {"texts": texts}
    for name, variant in variants(content).items():
        encoder = Tokenizer.from_str(json.dumps(variant))
        expected[name] = [encoder.encode(one, add_special_tokens=False).ids for one in texts]
    (here / "ids.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
