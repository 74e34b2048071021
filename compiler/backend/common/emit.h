/* A Program as one C file, meant to be read.
 *
 *   header     what it is, the model's file, the command that builds it
 *   kernels    each with its expression, its place in the .net file and its uses
 *   entries    one function each: the steps in order, every line with the path of its node
 *   host       schedules and metrics as plain double arithmetic
 *   tables     nnc_the_model: variables, inputs, data sets, the text of the .net file
 *
 * The C compiler gets the same functions cut into units, which it compiles side by side: some
 * kernels each, and one unit of all that calls them. A kernel is the same text in both forms and
 * external to its file in both, so the bits of results are the same, too.
 *
 * The same program and options give the same bytes. */
#ifndef NNC_BACKEND_COMMON_EMIT_H
#define NNC_BACKEND_COMMON_EMIT_H

#include "backend/common/compile.h"
#include "program/program.h"
#include "support/text.h"

/* The whole file and its units. `options` after compile_prepare: the command in the header and the
 * compiler in the tables. */
void emit_source(Arena *arena, CSource *source, const Program *program,
                 const CompileOptions *options);
/* The whole file alone. */
void emit_c(Text *text, const Program *program, const CompileOptions *options);

#endif
