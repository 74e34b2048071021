/* Heights of trees, for the builders: no tree grows beyond AST_MAX_DEPTH. */
#ifndef NNC_SYNTAX_BUILD_DEPTH_H
#define NNC_SYNTAX_BUILD_DEPTH_H

#include "syntax/build.h"

static inline int depth_max(int a, int b) { return a > b ? a : b; }

static inline int exprs_depth(const AstExprs *exprs) {
  int depth = 0;
  for (int i = 0; i < exprs->count; i++) depth = depth_max(depth, exprs->items[i]->depth);
  return depth;
}

/* Is a tree of that height too high to be part of a statement?  Reported once; the builder then
 * leaves the parts of the tree out. */
int depth_is_too_high(Parser *parser, int depth, Span at);

#endif
