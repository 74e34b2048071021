/* Telling what changed between the .net source and the definitions of a checkpoint and the program's own. */
#ifndef NNC_SOURCE_CHANGE_H
#define NNC_SOURCE_CHANGE_H

#include <stdbool.h>

#include "core/safetensors.h"
#include "nnc_model.h"

/* Warns, with the lines, when the source or the -D that the program was compiled with are others than those of the checkpoint. */
void nnc_warn_source_change(const nnc_safetensors *file, const nnc_model *model);
/* Whether they are; false where the file does not say. */
bool nnc_source_differs(const nnc_safetensors *file, const nnc_model *model);

#endif
