"""A C++ compiler with a mistake before it: the text of kernels (nnc's, *.cu) is changed, then compiled as it is.

    seed.py COMPILER DEFECT NOTE ARGUMENT...      NOTE: a file that comes to be when the text had what is changed

A defect is a pattern and what takes its place, in the kernels or in a header beside them."""
import os, re, subprocess, sys

HEADER = "nnc_cuda.h"
FROZEN = """
#define NNC_FROZEN(value) ([&] { static decltype(value + 0) kept = value; return kept; }())
"""
PART = r"(right_part\[k\]\[c\] = right_next\[n\];\s*\}\s*)nnc_sync\(\);"
DEFECTS = {
    "none": (None, r"NNC_KERNEL", "NNC_KERNEL"),
    # Barriers that are missing.
    "product_reads_too_early": (None, PART, r"\1"),
    "product_writes_too_early": (None, r"nnc_sync\(\);(\s*NNC_UNROLL for \(int n = 0; n < LEFT_EACH)", r"\1"),
    "scatter_counts_too_early": (None, r"(counts\[warp\] = nnc_count_bits\(owners\);\s*)nnc_sync\(\);", r"\1"),
    "scatter_sums_too_early": (None, r"(seen\[before\] = number;\s*)nnc_sync\(\);", r"\1"),
    "columns_join_too_early": (None, r"(m\d\[NNC_THREAD\] = a\d;\s*)nnc_sync\(\);", r"\1"),
    "block_joins_too_early": (HEADER, r"(memory\[NNC_THREAD / 32\] = value;[\s\\]*)nnc_sync\(\);", r"\1"),
    "block_searches_too_early": (HEADER, r"(places\[NNC_THREAD / 32\] = first;[\s\\]*)nnc_sync\(\);", r"\1"),
    # Barriers that some threads do not come to, or not all lanes of a warp.
    "barrier_of_some": (None, PART, r"\1if (NNC_THREAD < 32) nnc_sync();"),
    "barrier_of_some_blocks_sum": (HEADER, r"nnc_sync\(\); (/\* what an earlier)", r"if (value > 0) nnc_sync(); \1"),
    "shuffle_of_some": (HEADER, r"NNC_UNROLL for \(int mask = 16; mask > 0; mask /= 2\)",
                        "if (NNC_THREAD % 32 < 16) for (int mask = 16; mask > 0; mask /= 2)"),
    "half_of_the_lanes": (HEADER, r"int mask = 16; mask > 0", "int mask = 8; mask > 0"),
    # Places that are one off.
    "product_one_further": (None, r"a\[r\] = left_part\[k\]\[\(r", "a[r] = left_part[k + 1][(r"),
    "product_one_more": (None, r"&& depth < K", "&& depth <= K"),
    "product_row_more": (None, r"if \(row < M && column < N\)", "if (row <= M && column < N)"),
    "points_one_further": (None, r"(\n\s*\w+\[i0)\] = (t\d+;|0\.0f?;)", r"\1 + 1] = \2"),
    "points_one_more": (None, r"if \(point >= (\d+)\) return;", r"if (point > \1) return;"),
    "scatter_one_row_off": (None, r"== row;", "== row + 1;"),
    "order_turned": (HEADER, r"is_descending \? is_more : is_less", "is_descending ? is_less : is_more"),
    # Pieces of a long depth (depth.net).
    "depth_images_of_the_first": (None, r"\(batch / (\d+) \* \d+ \+ depth\)", "depth"),
    "depth_part_of_the_first": (None, r"batch / 3 \* (\d+) \+", r"batch / 3 * 0 * \1 +"),
    "depth_one_piece_less": (None, r"(j0 = NNC_THREAD / 32; j0 < 6)4;", r"\g<1>3;"),
    # Launches that are merged: another part's range, one step's operands for another's, a block too few.
    "merge_range_one_off": (None, r"block -= (\d+);", r"block -= \1 - 1;"),
    "merge_first_of_a_table": (None, r"words\.at \+ (\d+) \+ block / \d+ \*", r"words.at + \1 + 0 *"),
    "merge_next_operand": (None, r"words\.at \+ (\d+);", r"words.at + \1 + 1;"),
    # What a graph would keep if the host gave it by value when the graph is recorded.
    "frozen_step": (None, r"state->step", "NNC_FROZEN(state->step)"),
    "frozen_scalar": (None, r"= \*(nnc_at_\w+);", r"= NNC_FROZEN(*\1);"),
}
# Of attention on tensor cores (tests/cuda_attention).
ATTENTION = {
    "same_stage": (None, r"\(part \+ 1\) % 2 \* STAGE", "part % 2 * STAGE"),
    "early_wait": (None, r"nnc_copy_wait<0>", "nnc_copy_wait<1>"),
    "no_barrier": (None, r"nnc_sync\(\); (/\* and the part before)", r"\1"),
    "page_too_early": (None, r"(nnc_write_sums\([^;]*;\s*)nnc_sync_warp\(\);", r"\1"),
    "numbers_of_another_part": (None, r"- lse\[part % 2\]", "- lse[(part + 1) % 2]"),
    "diagonal_unmasked": (None, r"first \+ COLUMNS - 1 > own_row", "first > own_row"),
    "diagonal_key_more": (None, r"key <= query", "key < query"),
    "part_less": (None, r"first < own_row \+ GROUPS \* 16", "first < own_row"),
    "sums_unscaled": (None, r"const float by = factor;", "const float by = 1;"),
    "total_unscaled": (None, r"total\[r\]\[k\] \*= factor;", ""),
    "pairs_turned": ("nnc_cuda_tile.h", r"sums\[i / 2\]\[i % 2 \* 2 \+ 1\]", "sums[i / 2][i % 2 * 2]"),
    "logarithm_left_out": (None, r" - lse\[r\]\[i / 2\]", ""),
    "delta_left_out": (None, r" - delta\[r\]\[i / 2\]", ""),
}
GATHER = "nnc_cuda_gather.h"
# Of data that the device keeps (resident.sh).
RESIDENT = {
    "row_of_the_batch": (GATHER, r"int64_t row = input->is_batched \? examples\[row_of_batch\]", "int64_t row = input->is_batched ? row_of_batch"),
    "row_one_off": (GATHER, r"row \* input->step \+ t", "(row + 1) * input->step + t"),
    "order_left_out": (GATHER, r"row = \(\(const uint32_t \*\)input->order\)\[row\];", ";"),
    "rows_do_not_overlap": (GATHER, r"row \* input->step", "row * input->width"),
    "only_first_block": (GATHER, r"NNC_BLOCK_OF_GRID - input->first_block", "0"),
    "bytes_have_signs": (GATHER, r"\(const uint16_t \*\)from\)", "(const int16_t *)from)"),
    "state_frozen": (GATHER, r"state\[i\] = told\[i\]", "if (i == 1 && state[i]) return; else state[i] = told[i]"),
    "scalars_left_out": (GATHER, r"i < words; i", "i < 8; i"),
    "examples_of_the_next_run": (GATHER, r"told \+ words\)", "told + words + 32)"),
}


def seed(path, defect, note):
    header, pattern, replacement = {**DEFECTS, **ATTENTION, **RESIDENT}[defect]
    if header:
        path = os.path.join(os.path.dirname(path), header)
        for folder, _, names in os.walk(os.path.dirname(path)):
            if header in names:
                path = os.path.join(folder, header)
    with open(path) as file:
        text = file.read()
    text, count = re.subn(pattern, replacement, text)
    if count:
        open(note, "w").close()
    with open(path, "w") as file:
        file.write(FROZEN + text if "NNC_FROZEN" in replacement else text)


def main(compiler, defect, note, *arguments):
    for argument in arguments:
        if argument.endswith(".cu") and os.path.exists(argument):
            seed(argument, defect, note)
    sys.exit(subprocess.run([compiler, "-fno-threadsafe-statics", *arguments]).returncode)


if sys.argv[1] == "--list":
    print(*{"attention": ATTENTION, "resident": RESIDENT}.get(sys.argv[-1], DEFECTS))
else:
    main(*sys.argv[1:])
