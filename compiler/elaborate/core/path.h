/* Paths: the identity of parameters, and the names of nodes. */
#ifndef NNC_ELABORATE_PATH_H
#define NNC_ELABORATE_PATH_H

#include "elaborate/core/function.h"

const char *path_join(const char *parent, const char *element);
/* The path of a call of `function` from the current frame. */
const char *path_of_call(Elaborator *e, Function *function, const char *name);
const char *path_of_layer(Elaborator *e, Value callee, const char *name);
/* Of a layer that `function`, a builtin, makes of another. */
const char *path_of_copy(Elaborator *e, const char *function);
/* Sets frame->binding and ->owners for the statement that binds `names` to `value`. */
void path_begin_statement(Elaborator *e, const AstNames *names, const AstExpr *value);
const char *path_unique_key(Elaborator *e);
/* Whether one of the patterns of a group matches: core/pattern.h. */
bool path_matches_group(const AstEntry *group, const char *path);

#endif
