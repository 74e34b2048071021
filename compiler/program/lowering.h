/* Inside of program/: an entry on its way from nodes to steps.
 *
 *   places   for every node: where its value comes from (place.c)
 *   groups   which nodes one kernel computes (fuse.c), the kernel (group.c)
 *   launches    launches and copies with their order (order.c, schedule.c)
 *   loops    runs of launches that go through the batch in blocks (loops.c)
 *   buffers  of what is stored, in place where it can be (share.c)
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
                        FORM_TEMPLATE,
                        FORM_SCAN /* a scan or a result of one */
} NodeForm;

typedef struct Place {
  PlaceKind kind;
  NodeForm form;
  int group;      /* PLACE_GROUP */
  bool is_kept;   /* an output of the graph or read by a scan's loop: must be in memory */
  bool is_looped; /* read by a scan's loop */
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
  const Node *scan; /* its loop is the group; members: itself, then the results that are read */
  int phase;        /* of all its members */
  Shape domain;
  bool has_inner; /* some member has the whole shape `full`: domain and inner axes */
  Shape full;
  unsigned reduced;          /* bit i: axis i of `full` is inner */
  VEC(const Node *) members; /* in the graph's order */
  int *carries;              /* of a scan: their buffers, two rows each */
  BuiltKernel built; /* of a scan: only its operands, which the rounds read or write somehow */
  VEC(const Node *) computed; /* members and what is computed along with them */
} Group;

/* A launch or a copy. */
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
  int *phases;          /* by node id: its own (ATTR_STAGE) or an operand's, if later */
  Place *places;        /* by node id */
  const Node **node_of; /* by node id */
  VEC(Group *) groups;
  VEC(Launch) launches;
  VEC(int) order;       /* launch numbers */
  int64_t blocks;       /* of the batch, in task loops; 0: there are none */
  bool is_eager;        /* task loops wherever they are possible */
  int scan;             /* of a body: the number of its scan loop; -1: the entry itself */
  double rounds;        /* how often a run of the entry does all of this */
  const int *arguments; /* of a body: the buffer of each operand */
  const int *targets;   /* of a body: the buffer of each output */
} Lowering;

/* prepare.c: a copy with large reductions in two steps and a node for every output; sums over the
 * batch in pieces, one for each block of a task loop, where that gains */
const Graph *graph_prepare(const Lowering *lowering);
/* Copies the outputs of `graph` but those that `leave_out` (may be NULL) names by number; each gets
 * a node of its own. */
void graph_copy_outputs(Graph *copy, const Graph *graph, const NodeMap *map, const bool *leave_out);

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

/* order.c: buffers of stored values and outputs, launches and their order constraints */
void launches_create(Lowering *lowering);
/* schedule.c */
void launches_schedule(Lowering *lowering);
/* What the values and weights that a block of a task loop touches may take of a second-level cache
 * of 512 KiB. */
enum { LOOP_CACHE_BYTES = 384 << 10 };

/* loops.c: the number of blocks for a batch, 0 when it has none that is good */
int64_t batch_blocks(int64_t batch);
/* Finds task loops and moves their launches together. */
void loops_form(Lowering *lowering);
/* loop_memory.c: bytes of activations alive at once at most, by the order and the loops; parts are
 * by launch and operand whether it is touched by blocks in a loop */
int64_t order_peak(const Lowering *lowering, bool *const *parts);
/* share.c: activations over dead operands */
void buffers_share(Lowering *lowering);
/* steps.c */
void steps_create(Lowering *lowering);
void copy_step_add(Lowering *lowering, const Node *node, int from, int to);
/* lower.c: all of the above, from places to steps */
void graph_lower(Lowering *lowering);

/* scan.c: scans that are loops of the program */
/* Marks what they read as kept in memory. */
void scans_keep_operands(Lowering *lowering);
/* The operands of a scan's group. */
void scan_build(Lowering *lowering, Group *group);
/* Memory of what is carried, and of final carries. */
void scans_bind(Lowering *lowering);
/* The steps of the loop. */
void scan_add_steps(Lowering *lowering, const Group *group);
/* barriers.c */
void barriers_insert(Arena *arena, Program *program, ProgramEntry *entry);
/* plan.c */
void program_plan(Program *program);
/* Numbers of barriers before each step. */
int *barriers_before(Arena *arena, const ProgramEntry *entry);

/* buffers.c */
int buffer_add(Program *program, BufferKind kind, Type type, const char *name, int entry);
int variable_buffer(const Program *program, const char *path);
/* The buffer whose memory `buffer` is; that of whose value it is a part, or itself. */
int buffer_root(const Program *program, int buffer);
int buffer_whole(const Program *program, int buffer);
/* `elements` of `buffer`, from element `start` on. */
int buffer_view(Program *program, int buffer, int64_t start, int64_t elements);
/* Round r of the scan loop has the r-th `elements` of the buffer, in reverse from the last on. */
int buffer_row(Program *program, int buffer, int64_t elements, int scan, bool reverse,
               int64_t rounds);
/* Round r has the `elements` of row (r + turn) % turns; rows are `stride` elements apart. */
int buffer_turn(Program *program, int buffer, int64_t elements, int64_t stride, int scan,
                int64_t turns, int64_t turn);

#endif
