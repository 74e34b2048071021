/* A Program as one C file, meant to be read.
 *
 *   header     what it is, the model's file, the command that builds it
 *   kernels    each with its expression, its place in the .net file and its uses
 *   entries    one function each: the steps in order, every line with the path of its node
 *   host       schedules and metrics as plain double arithmetic
 *   tables     nnc_the_model: variables, inputs, data sets, the text of the .net file
 *
 * The same program and options give the same bytes. */
#ifndef NNC_BACKEND_C_EMIT_H
#define NNC_BACKEND_C_EMIT_H

#include "program/program.h"
#include "support/text.h"

typedef struct EmitOptions {
  const char *command;   /* that builds the file, as compile_c_command() gives it */
  const char *compiler;  /* "clang-19 -O3 -march=native": names the C compiler in `info` */
  const char *isa;       /* instruction-set variant that fixes the bits: "native", "x86-64-v3" */
} EmitOptions;

void emit_c(Text *text, const Program *program, const EmitOptions *options);

#endif
