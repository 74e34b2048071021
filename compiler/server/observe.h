/* What the names and calls of a program stood for while it was elaborated. */
#ifndef NNC_SERVER_OBSERVE_H
#define NNC_SERVER_OBSERVE_H

#include "elaborate/core/observer.h"

/* Executions that gave the same type, or the same value of compile time. */
typedef struct Variant {
  bool is_tensor;
  Type type;        /* of a tensor */
  const char *text; /* of all else: "12", "the function 'relu'" */
  const char *path; /* of the call in which it was first; "" at the top level */
  int count;
} Variant;

/* All that was seen at one place of the tree. */
typedef struct Sight {
  EntryKind entry; /* the trace that came here first; later ones do not count */
  VEC(Variant) variants;
  int count;
  VEC(const Slot *) slots; /* the variables that its calls made */
} Sight;

typedef struct Sights {
  Arena *arena;
  Observer observer;
  PointerTable table; /* by the AstExpr or AstName */
  VEC(Sight *) items;
  VEC(const Slot *) slots; /* all variables of the first trace */
  PointerTable documented; /* by the names that were asked for; their texts, or NULL: */
  VEC(const char *) documentation;
  int64_t seen;                          /* how often something was added to these */
  bool is_f64;                           /* of the run's precision: f32 becomes f64 */
  void (*after_training)(void *context); /* called once, after the first trace */
  void *context;
} Sights;

Sights *observe_create(Arena *arena);
/* NULL where nothing was seen. */
const Sight *observe_find(const Sights *sights, const void *key);

#endif
