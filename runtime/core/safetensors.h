/* The safetensors format: 8 bytes with the header's length (little endian), a JSON header, the
 * data.
 *
 *     {"__metadata__": {"key": "text"},
 *      "h1.w": {"dtype": "F32", "shape": [784, 1000], "data_offsets": [0, 3136000]}}
 *
 * The reader trusts nothing: every length, product and offset is checked before use, the data
 * must be covered exactly once, and messages name the file, what was expected and what was
 * found. */
#ifndef NNC_SAFETENSORS_H
#define NNC_SAFETENSORS_H

#include <stdbool.h>

#include "core/json.h"
#include "nnc_model.h"

typedef struct nnc_stored { /* a tensor in a file */
  const char *name;
  const char *dtype_name; /* as written: "F32" */
  int dtype;              /* enum nnc_dtype; -1: not one of ours */
  int rank;               /* as written; above NNC_MAX_RANK only the first extents are kept */
  int64_t dim[NNC_MAX_RANK];
  uint64_t begin, end; /* bytes from the start of the data */
} nnc_stored;

typedef struct nnc_safetensors {
  char *path;
  int fd;
  uint64_t data_start, data_bytes;
  char *header;
  nnc_json_document document;
  const nnc_json *metadata; /* NULL: none */
  int count;
  nnc_stored *tensors; /* sorted by name */
} nnc_safetensors;

/* NULL after a message. */
nnc_safetensors *nnc_safetensors_open(const char *path);
void nnc_safetensors_close(nnc_safetensors *file);

const char *nnc_safetensors_metadata(const nnc_safetensors *file, const char *key); /* or NULL */
const nnc_stored *nnc_safetensors_find(const nnc_safetensors *file, const char *name);
/* All of its bytes, or `count` of them from byte `from` on; false after a message. */
bool nnc_safetensors_read(const nnc_safetensors *file, const nnc_stored *stored, void *into);
bool nnc_safetensors_read_part(const nnc_safetensors *file, const nnc_stored *stored, uint64_t from,
                               uint64_t count, void *into);

/* "F32[784, 1000]" in a buffer of NNC_STORED_TEXT, which is returned. */
enum { NNC_STORED_TEXT = 256 };
const char *nnc_stored_type_text(char *buffer, const nnc_stored *stored);

typedef struct nnc_metadata {
  const char *key, *text;
} nnc_metadata;

/* Elements [from, from + count) of a tensor that is to be written, from where the caller has it. */
typedef void nnc_tensor_reader(const void *source, const nnc_tensor *tensor, int64_t from,
                               int64_t count, void *to);

/* What a file is to hold. */
typedef struct nnc_safetensors_content {
  int count;
  const nnc_tensor *const *tensors;
  nnc_tensor_reader *read; /* called with `source`, for a piece at a time */
  const void *source;
  int metadata_count;
  const nnc_metadata *metadata;
} nnc_safetensors_content;

/* Replaces `path`. `keep`: as in nnc_replace_commit. False after a message. */
bool nnc_safetensors_write(const char *path, const char *keep,
                           const nnc_safetensors_content *content);

#endif
