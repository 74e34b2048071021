/* The formats that weights are written in, and the endings of file names that promise another. */
#ifndef NNC_WEIGHTS_FORMAT_H
#define NNC_WEIGHTS_FORMAT_H

#include <stdbool.h>

enum nnc_weights_format { NNC_SAFETENSORS, NNC_NPZ, NNC_WEIGHTS_FORMATS };

/* "safetensors", "npz": the names for --format, and the endings. */
extern const char *const nnc_weights_format_names[NNC_WEIGHTS_FORMATS];

/* That of the name's ending; safetensors where it says nothing. -1 after a message where it is that of a format that
 * `command` does not write; `only_safetensors`: it writes no other. */
int nnc_weights_format_of(const char *path, const char *command, bool only_safetensors);

/* ", which is a safetensors file" where the name does not say it, else "". */
const char *nnc_weights_format_note(const char *path, enum nnc_weights_format format);

/* Whether a file of this name may be written: none is there, or one of the format. False after a message. */
bool nnc_weights_may_replace(const char *path, enum nnc_weights_format format);

#endif
