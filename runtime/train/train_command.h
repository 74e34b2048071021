/* The command that trains first. */
#ifndef NNC_TRAIN_COMMAND_H
#define NNC_TRAIN_COMMAND_H

#include "core/options.h"

enum { NNC_COMMAND_BYTES = 600 };

/* The command that trains what this one asks for: of a training that was to be resumed this one without
 * --resume, else one with the same data, folder and options of the program.  Returns `text`. */
const char *nnc_train_command_text(char text[NNC_COMMAND_BYTES], const nnc_options *options);

#endif
