"""What other tokenizer.json make of the tokens and merges of one: the pattern of GPT-2, with a blank in front of a text and
without; those of Llama 3 and Qwen 2; whole pieces taken before merges, and not."""
import copy

LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
         r"\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA.replace("{1,3}", "")


def level(**changes):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **changes}


def split(pattern):
    step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [step, level(use_regex=False)]}


def variants(content):
    made = {}
    for name, cutting, takes_whole in [("gpt2", level(), False), ("blank", level(add_prefix_space=True), False), ("llama", split(LLAMA), True),
                                       ("merging", split(LLAMA), False), ("qwen", split(QWEN), False)]:
        made[name] = copy.deepcopy(content)
        made[name]["pre_tokenizer"] = cutting
        made[name]["model"]["ignore_merges"] = takes_whole
    return made
