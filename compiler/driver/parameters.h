/* The parameters of a program as a table of paths, and two such tables side by side. */
#ifndef NNC_DRIVER_PARAMETERS_H
#define NNC_DRIVER_PARAMETERS_H

#include "driver/commands.h"
#include "elaborate/elaborate.h"

/* What a program declares, or a checkpoint holds, under a path. */
typedef struct Parameter {
  const char *path; /* an optimizer's state: "h1.w:m" */
  VariableKind kind;
  const char *dtype; /* "f32" */
  Shape shape;
  bool frozen, has_file; /* load() gives its initial value */
} Parameter;

typedef struct Parameters {
  const char *file;
  bool is_checkpoint;
  Rebindings rebindings; /* of a program */
  VEC(Parameter) items;  /* in the order of their declaration, of a checkpoint by path */
} Parameters;

/* All variables of a program, as `options` say; mistakes go to `diagnostics`. NULL after errors.
 * prelude: NULL, and it is parsed for this program. */
Module *driver_elaborate(Arena *arena, const Options *options, Diagnostics *diagnostics,
                         const SourceFile *source, const Prelude *prelude, Rebindings *rebindings);
Parameters parameters_of_module(Arena *arena, const char *file, const Module *module);

/* checkpoint.c: the header of a safetensors file; false after a message. */
bool parameters_of_checkpoint(Arena *arena, const char *path, Parameters *parameters);

/* "f32[784, 1000]" */
const char *parameter_type(Arena *arena, const Parameter *parameter);
/* rebindings.c: what is said of names that are bound more than once, a note each; of one program, */
void rebindings_print(Text *text, Arena *arena, const Rebindings *rebindings);
/* and where that makes a path of one program another one's, or none. */
void rebindings_compare(Text *text, Arena *arena, const Parameters *old, const Parameters *new);

/* nnc check --parameters */
void parameters_print(Text *text, Arena *arena, const Parameters *parameters);

#endif
