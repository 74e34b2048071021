/* Several safetensors files as one, as `--init A --init B` gives them: of tensors and metadata of one name
 * the last file's. */
#ifndef NNC_INIT_FILES_H
#define NNC_INIT_FILES_H

#include "core/options.h"
#include "core/safetensors.h"

typedef struct nnc_init_files {
  int count;
  nnc_safetensors *files[NNC_MOST_INITS];
} nnc_init_files;

/* False after a message; nothing is open then. */
bool nnc_init_files_open(nnc_init_files *files, int count, const char *const *paths);
void nnc_init_files_close(nnc_init_files *files);

/* NULL when no file has it; else `file` is the one that has. The average of a parameter, "w:average", begins with the
 * parameter where the last file that has either of them lacks it: the tensor's name is then "w". */
const nnc_stored *nnc_init_files_find(const nnc_init_files *files, const char *name,
                                      const nnc_safetensors **file);
/* NULL when no file has it; else `path` is the path of the one that has. */
const char *nnc_init_files_metadata(const nnc_init_files *files, const char *key,
                                    const char **path);
/* What messages call a file: by its path only where there are others; NULL: all of them. */
const char *nnc_init_files_call(const nnc_init_files *files, const nnc_safetensors *file);

/* Says what came from where, of one file only if `taken` is given, and what became of averages: of each parameter and
 * state `taken` says whether it was read (NULL: all were). False after a message when a file gave nothing. */
bool nnc_init_files_tell(const nnc_init_files *files, const nnc_model *model, const bool *taken);

#endif
