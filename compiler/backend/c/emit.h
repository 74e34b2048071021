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

#include "backend/c/compile.h"
#include "program/program.h"
#include "support/text.h"

/* `options` after compile_prepare: the command in the header and the compiler in the tables. */
void emit_c(Text *text, const Program *program, const CompileOptions *options);

#endif
