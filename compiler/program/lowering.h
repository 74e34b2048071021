/* Inside of program/: a graph on its way from nodes to steps.
 *
 *   places    for every node: where its value comes from
 *   groups    which nodes one kernel computes, then the kernel itself
 *   launches  of kernels, with their order; runs of them that go through the batch in blocks
 *   buffers   of what is stored, in place where it can be; they belong to the Program already
 *
 * The stages that make them are the table stages.def; what each leaves is checked by verify_stages.c. */
#ifndef NNC_PROGRAM_LOWERING_H
#define NNC_PROGRAM_LOWERING_H

#include "kernel/builder.h"
#include "kernel/layout.h"
#include "program/program.h"

typedef enum PlaceKind {
  PLACE_DEAD,
  PLACE_LOAD,   /* a leaf in memory: input, parameter, state */
  PLACE_INLINE, /* computed by each kernel that needs it */
  PLACE_GROUP   /* computed by one kernel; other kernels load it */
} PlaceKind;

typedef enum NodeForm {              /* what the operator's rule makes of it */
                        FORM_MAP,    /* an expression over the point */
                        FORM_REDUCE, /* a stage with a loop of its own */
                        FORM_TEMPLATE,
                        FORM_SCAN /* a scan or a result of one */
} NodeForm;

typedef struct Place {
  PlaceKind kind;
  NodeForm form;
  int group; /* PLACE_GROUP */
  /* An output of the graph, read by a scan's loop, or a copy: must be in memory, row-major. */
  bool is_kept;
  bool is_copy;   /* of an input, in memory in the order of its reader */
  bool is_looped; /* read by a scan's loop */
  bool is_stored; /* PLACE_GROUP: some other kernel or the outside reads it */
  double reads;   /* elements of an operand that one evaluation of all of the node reads, about */
  bool is_free;   /* an expression of a few operations that loads nothing */
  bool is_shared; /* a constant or host scalar: computed everywhere even if also stored */
  int buffer;     /* of a stored or loaded value; -1: none */
  const Layout *layout; /* of a stored value; NULL: row-major */
} Place;

typedef struct Group {
  int id;
  bool is_merged_away;       /* or inlined */
  const Node *template_node; /* or NULL */
  const Node *scan; /* of a group that is a scan's loop: members are the scan, then those of its
                     * results that are read */
  int phase;        /* of all its members */
  Shape domain;
  bool has_inner; /* some member has the whole shape `full`: domain and inner axes */
  Shape full;
  unsigned reduced;           /* bit i: axis i of `full` is inner */
  VEC(const Node *) members;  /* in the graph's order */
  int *carries;               /* of a scan: their buffers, two rows each */
  bool *dies;                 /* of a scan, by operand: rounds may write over it; NULL: none */
  BuiltKernel built;          /* of a scan: only the operands, all that its rounds read or write */
  VEC(const Node *) computed; /* members and what is computed along with them */
} Group;

/* A launch of a group's kernel, the loop of a scan, or a copy. */
typedef struct Launch {
  int group;        /* -1: a copy */
  int from, to;     /* buffers of a copy */
  int phase;        /* those of an earlier one go first when both are ready */
  int key;          /* order among those of a phase: greatest node id */
  int loop;         /* number of its task loop, or -1 */
  VEC(int) before;  /* launches that must come earlier */
  const Node *node; /* for path and span */
} Launch;

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
  int *phases;          /* by node id: its own (ATTR_PHASE) or an operand's, if later */
  Place *places;        /* by node id */
  const Node **node_of; /* by node id */
  VEC(Group *) groups;
  VEC(Launch) launches;
  VEC(int) order;                  /* launch numbers */
  bool keeps_weights;              /* from run to run, packed for the kernels */
  bool keeps_rows;                 /* also for products of one row, which are templates for that */
  int64_t blocks;                  /* of the batch, in task loops; 0: there are none */
  bool widens_bf16, widens_f16;    /* numbers of these types are kept as f32 */
  const struct Variants *variants; /* of kernels, or NULL */
  int threads;                     /* that scans go through by blocks for; 0: they do not */
  int64_t most_bytes;              /* what needs more is planned without care; 0: nothing is */
  bool is_eager;                   /* task loops wherever they are possible */
  int scan;             /* of a body: the number of its scan loop; -1: the entry itself */
  double rounds;        /* how often a run of the entry does all of this */
  const int *arguments; /* of a body: the buffer of each operand */
  int argument_count;
  bool *dies;            /* of a body, by operand: results may go over it; NULL: none */
  const int *targets;    /* of a body: the buffer of each output */
  struct Stages *stages; /* the runner, which lowers bodies too */
  void (*lower)(struct Lowering *body);
} Lowering;

#endif
