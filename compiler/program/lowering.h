/* Inside of program/: an entry on its way from nodes to steps.
 *
 *   places   for every node: where its value comes from (place.c)
 *   groups   which nodes one kernel computes (fuse.c), the kernel (group.c)
 *   units    launches and copies with their order (order.c, schedule.c)
 *   loops    runs of launches that go through the batch in blocks (loops.c)
 *   buffers  of what is stored, in place where it can be (alias.c)
 *   steps    with barriers (barriers.c), then the memory plan (plan.c) */
#ifndef NNC_PROGRAM_LOWERING_H
#define NNC_PROGRAM_LOWERING_H

#include "kernel/builder.h"
#include "program/program.h"

typedef enum PlaceKind {
  PLACE_DEAD,
  PLACE_LOAD,   /* a leaf in memory: input, parameter, state */
  PLACE_INLINE, /* computed wherever it is needed */
  PLACE_GROUP   /* computed by one kernel; other kernels load it */
} PlaceKind;

typedef enum NodeForm {              /* what the operator's rule makes of it */
                        FORM_MAP,    /* an expression over the point */
                        FORM_REDUCE, /* a stage with a loop of its own */
                        FORM_TEMPLATE
} NodeForm;

typedef struct Place {
  PlaceKind kind;
  NodeForm form;
  int group;      /* PLACE_GROUP */
  bool is_output; /* of the graph */
  bool is_stored; /* PLACE_GROUP: some other kernel or the outside reads it */
  double reads;   /* elements of an operand that one evaluation of all of the node reads, about */
  bool is_free;   /* an expression of a few operations that loads nothing */
  bool is_shared; /* a constant or host scalar: computed everywhere even if also stored */
  int buffer;     /* of a stored or loaded value; -1: none */
} Place;

typedef struct Group {
  int id;
  bool is_merged_away;       /* or inlined */
  const Node *template_node; /* or NULL */
  int stage;                 /* of all its members */
  Shape domain;
  bool has_inner; /* some member has the whole shape `full`: domain and inner axes */
  Shape full;
  unsigned reduced;          /* bit i: axis i of `full` is inner */
  VEC(const Node *) members; /* in the graph's order */
  BuiltKernel built;
  VEC(const Node *) computed; /* members and what is computed along with them */
} Group;

/* A launch or a copy. */
typedef struct Unit {
  int group;        /* -1: a copy */
  int from, to;     /* buffers of a copy */
  int stage;        /* those of an earlier one go first when both are ready */
  int key;          /* order among those of a stage: greatest node id */
  int loop;         /* number of its task loop, or -1 */
  VEC(int) before;  /* units that must come earlier */
  const Node *node; /* for path and span */
} Unit;

typedef struct Lowering {
  Arena *arena;
  Program *program;
  const Module *module;
  const Graph *graph;
  EntryKind entry;
  int level;
  bool *live;           /* by node id */
  int *uses;            /* by node id */
  int *wide_uses;       /* by node id: without those by masks (inline.c) */
  int *stages;          /* by node id: its own (ATTR_STAGE) or an operand's, if later */
  Place *places;        /* by node id */
  const Node **node_of; /* by node id */
  VEC(Group *) groups;
  VEC(Unit) units;
  VEC(int) order; /* unit numbers */
  int64_t blocks; /* of the batch, in task loops; 0: there are none */
  bool is_eager;  /* task loops wherever they are possible */
} Lowering;

/* prepare.c: a copy with large reductions in two steps and a node for every output; sums over the
 * batch in pieces, one for each block of a task loop, where that gains */
const Graph *graph_prepare(const Lowering *lowering);

/* place.c */
void places_create(Lowering *lowering);
/* Gives `node` a kernel of its own. */
Group *place_in_own_group(Lowering *lowering, const Node *node);

/* group.c: builds the kernel; NULL, or what one kernel cannot do and the node to blame. */
const char *group_build(Lowering *lowering, Group *group, const Node **blame);
/* Builds, giving nodes that are to blame groups of their own, until it works. */
void group_build_surely(Lowering *lowering, Group *group);

/* inline.c */
void places_inline(Lowering *lowering);
/* fuse.c */
void groups_fuse(Lowering *lowering);
/* Marks which members other kernels or the outside read. */
void groups_mark_stored(Lowering *lowering);

/* order.c: buffers of stored values and outputs, units and their order constraints */
void units_create(Lowering *lowering);
/* schedule.c */
void units_schedule(Lowering *lowering);
/* What the values and weights that a block of a task loop touches may take of a second-level cache
 * of 512 KiB. */
enum { LOOP_CACHE_BYTES = 384 << 10 };

/* loops.c: the number of blocks for a batch, 0 when it has none that is good */
int64_t batch_blocks(int64_t batch);
/* Finds task loops and moves their units together. */
void loops_form(Lowering *lowering);
/* loop_memory.c: bytes of activations alive at once at most, by the order and the loops; parts are
 * by unit and operand whether it is touched by blocks in a loop */
int64_t order_peak(const Lowering *lowering, bool *const *parts);
/* alias.c: activations over dead operands */
void buffers_share(Lowering *lowering);
/* steps.c */
void steps_create(Lowering *lowering);
/* barriers.c */
void barriers_insert(Arena *arena, Program *program, ProgramEntry *entry);
/* plan.c */
void program_plan(Program *program);
/* The buffer whose memory `buffer` is. */
int buffer_root(const Program *program, int buffer);
/* Numbers of barriers before each step. */
int *entry_phases(Arena *arena, const ProgramEntry *entry);

int buffer_add(Program *program, BufferKind kind, Type type, const char *name, int entry);
int variable_buffer(const Program *program, const char *path);

#endif
