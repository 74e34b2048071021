/* The sources and stages of data blocks, as generated programs name them: `&nnc_source_NAME`,
 * `&nnc_stage_NAME`. Each is an object of its own in the runtime library, so a program links only
 * what its model names. */
#ifndef NNC_DATA_H
#define NNC_DATA_H

#include "nnc_model.h"

extern const struct nnc_source_class nnc_source_idx, nnc_source_csv, nnc_source_npy, nnc_source_npz,
    nnc_source_raw, nnc_source_cifar, nnc_source_shards, nnc_source_image_list, nnc_source_text,
    nnc_source_token_stream, nnc_source_copy_task, nnc_source_image_folder, nnc_source_files,
    nnc_source_counter, nnc_source_constant, nnc_source_wav_folder, nnc_source_wav_list;
extern const struct nnc_stage_class nnc_stage_split, nnc_stage_shuffle, nnc_stage_standardize,
    nnc_stage_impute, nnc_stage_categories, nnc_stage_batch, nnc_stage_prefetch, nnc_stage_on_disk,
    nnc_stage_fold, nnc_stage_balance, nnc_stage_weigh, nnc_stage_hash, nnc_stage_window,
    nnc_stage_random_affine, nnc_stage_random_erase, nnc_stage_resize, nnc_stage_center_crop,
    nnc_stage_random_crop, nnc_stage_random_resized_crop, nnc_stage_color_jitter, nnc_stage_pad,
    nnc_stage_random_flip, nnc_stage_one_hot, nnc_stage_mixup, nnc_stage_cutmix, nnc_stage_concat,
    nnc_stage_mix, nnc_stage_match, nnc_stage_boxes, nnc_stage_with;

#endif
