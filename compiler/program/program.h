/* A Program is what is executed: for every entry a list of steps over buffers in one planned
 * arena.
 *
 * Neighbouring launches may form a task loop: the batch goes through them in blocks, and a worker
 * runs all of them for one block before the next, so that what they hand on stays in its cache. The
 * blocks are shared out like tasks. An operand of such a launch is one of three: it lies in the arena
 * and moves on by `block_bytes` from block to block; or all blocks read the same and none writes it;
 * or it lies in the worker's block of memory and holds a value of one block.
 *
 * A scan that is not written out is a loop over some of the steps; each turn of it is a round. An
 * element of a sequence, or of a result that the rounds fill, is a buffer that moves a row further
 * each round. What is carried has two rows that take turns: a round reads one and writes the other.
 * What is written and read within one round has memory for one round.
 *
 * Steps of one entry run in order; every worker runs the same list.  A launch runs `task_count`
 * fixed tasks of a kernel; tasks of one launch are independent. A barrier separates launches that
 * depend on each other, unless every worker reads only what it wrote itself (program/barriers.c
 * puts as few as the buffers' conflicts need and counts them). */
#ifndef NNC_PROGRAM_PROGRAM_H
#define NNC_PROGRAM_PROGRAM_H

#include "graph/textual.h"
#include "kernel/kernel.h"
#include "support/pipeline.h"
#include "target/target.h"

typedef enum BufferKind {
  BUFFER_VARIABLE,   /* parameters, state, optimizer state: persistent */
  BUFFER_INPUT,      /* filled by the host before a run */
  BUFFER_ACTIVATION, /* lives between its first and last step */
  BUFFER_RESULT,     /* accumulators and predictions: read by the host after a run */
  BUFFER_WORKER,     /* an activation of one block of a task loop, in the worker's block */
  BUFFER_KEPT /* weights in a kernel's own order, from run to run of the entry: nothing else of it has the memory */
} BufferKind;

typedef struct Buffer {
  int id;
  BufferKind kind;
  Type type;
  const char *name;          /* path of the node or variable */
  int64_t bytes;             /* a multiple of the target's alignment */
  int64_t offset;            /* from the arena's base (WORKER: the block's); -1 until planned */
  int entry;                 /* EntryKind of activations, inputs and results; -1 for variables */
  bool has_channels_last;    /* its axis 1 is the innermost in memory: of a variable (layout.c) */
  int first_step, last_step; /* live range in its entry; whole entry for inputs and results */
  int alias_of;              /* id of the buffer in whose memory this one lies, or -1 */
  int view_of;               /* id of the buffer of whose value this is a part (entry -1), or -1 */
  int64_t view_offset; /* bytes from that buffer's beginning; a multiple of the dtype's size */
  int scan;            /* number of the scan loop whose rounds move this view; -1: it stays */
  int64_t round_bytes; /* in round r it lies round_bytes * r further, or, */
  int64_t turns, turn; /* with `turns` > 0, round_bytes * ((r + turn) % turns) */
  int owner; /* scan loop whose single rounds the value is for: none reads what another wrote.
              * -1: it lives outside of such a loop, or belongs to the entry as a whole */
} Buffer;

typedef enum StepKind { STEP_LAUNCH, STEP_BARRIER, STEP_COPY } StepKind;

typedef struct Step {
  StepKind kind;
  int kernel; /* index into Program.kernels */
  int operand_count;
  int *operands; /* buffer ids, in the kernel's operand order */
  int kept;      /* buffer of the weights that the kernel keeps (Kernel.keeps_weights), or -1 */
  int scalar_count;
  int *scalars; /* numbers of host scalars in Program.scalar_names */
  int key_count;
  uint64_t *keys;         /* FNV-1a 64 hashes of the random keys */
  int64_t task_count;     /* in a task loop: blocks */
  int loop;               /* number of its task loop in the entry, or -1 */
  int scan;               /* number of the innermost scan loop around it, or -1 */
  int64_t *block_bytes;   /* in a task loop: by operand, from one block to the next; or 0 */
  const char *reason;     /* of a barrier: what would go wrong without it */
  int copy_from, copy_to; /* STEP_COPY: buffer ids (an identity store that could not alias) */
  int64_t work_at,
      work_bytes;       /* the workers' blocks then: from the arena's base, and of each; or 0, 0 */
  double flops, bytes;  /* of all rounds of the scan loops around it */
  double product_flops; /* of `flops`: those of contractions and convolutions */
  const char *path;     /* of the node: "h1.linear" */
  const char *class_name;    /* "contraction", "elementwise", ... for the profile */
  const char *operator_name; /* "contract+9": with 9 operators fused into it; NULL for a barrier */
  const char *nodes; /* of a launch: what it computes, by lines, in order: "5 log mul, 7 mean" */
  Span span;
} Step;

typedef struct TaskLoop {
  int first_step, last_step;
  int64_t blocks;
  int64_t examples; /* of a block */
  /* No barrier parts it from another loop that touches the same memory block by block: a worker
   * must have the same blocks in both. */
  bool is_tied;
} TaskLoop;

/* The steps of a scan that is not written out. The last one is a barrier, unless all of them are one task loop:
 * then a worker takes each block through all rounds (scan_task_loop). Loops lie apart or one inside the other, the
 * outer one first. */
typedef struct ScanLoop {
  int first_step, last_step;
  int64_t rounds;
  int outer;        /* number of the scan loop around it, or -1 */
  const char *path; /* of the scan */
} ScanLoop;

typedef struct ProgramEntry {
  EntryKind entry;
  bool present;
  VEC(Step) steps;
  VEC(TaskLoop) loops;
  VEC(ScanLoop) scans;
  VEC(int) inputs;  /* buffer ids; names are the buffers' */
  VEC(int) results; /* in the order of the graph's results / accumulators */
  int64_t batch;
  int barrier_count;
  int64_t activation_bytes;           /* of memory, from the first to the last */
  int64_t activation_peak;            /* bytes live at once at most, by the schedule */
  double flops, bytes, product_flops; /* sums over the steps */
} ProgramEntry;

typedef struct Program {
  Arena *arena;
  const Target *target;
  const Module *module;
  VEC(Kernel *) kernels; /* unique by kernel_key */
  VEC(const char *) kernel_keys;
  VEC(Buffer) buffers;
  VEC(const char *) scalar_names;    /* outputs of the host entry, then t, epoch, ... when read */
  ProgramEntry entries[ENTRY_COUNT]; /* host and finish have none: they are scalar code */
  int64_t parameter_bytes, optimizer_bytes, state_bytes;
  int64_t activation_bytes; /* activations, inputs and results: the maximum over entries */
  int64_t arena_bytes;      /* all of it */
  int64_t worker_bytes;     /* a worker's block */
} Program;

typedef struct ProgramOptions {
  const Target *target;
  int level;          /* -O: 0 is one kernel a node */
  bool without_loops; /* no task loops: they may need more memory */
  bool
      keeps_weights; /* what computes single examples keeps weights packed, where the target gains by it */
  bool
      keeps_batch_weights; /* so does what predicts a batch, where its kernels would pack them in each run */
  bool widens_bf16, widens_f16;    /* numbers of these types are kept as f32 (program/widen.c) */
  const PipelineOptions *runner;   /* which stage is dumped, times; NULL: none */
  Diagnostics *diagnostics;        /* told when a dump cannot be written; may be NULL without */
  const struct Variants *variants; /* of kernels (variants.h); NULL: as the cost model picks */
  int threads; /* that the program is for, on which the blocks of scans depend; 0: no number of them */
  /* A program that needs more, with at least `threads` threads, is of no use and planned quickly; 0: any is of use. */
  int64_t most_bytes;
  int64_t blocks; /* for tests: task loops of so many blocks wherever they are possible; 0:
                            * of blocks that the batch gives, where they gain */
} ProgramOptions;

/* Lowers a module without gradient nodes: kernels, fusion of elementwise chains, schedule,
 * aliasing, barriers, task counts, memory plan. */
Program *program_create(Arena *arena, const Module *module, const ProgramOptions *options);
/* Proves the plan: no two live buffers of an entry overlap unless one aliases the other, in-place
 * writes come after the last reader, every launch reads only what was written, barriers suffice.
 * NULL, or what is wrong. Runs on every compile. */
const char *program_verify(Arena *arena, const Program *program);
void program_print(Text *text, const Program *program);
/* With its module, so that it reads back (textual.c). */
void program_print_whole(Text *text, const Program *program);
/* NULL after errors, which are reported with their places in `dump`. A Program that is read is a proven
 * one; `find` is for its module. */
Program *program_parse(Arena *arena, Diagnostics *diagnostics, const SourceFile *dump,
                       FindViolation *find, const Target *target);

/* Bytes by which a view has moved on; `rounds`: of the scan loops, by number. */
int64_t buffer_moved(const Program *program, int buffer, const int64_t *rounds);
/* Two views that never have a byte in common in one round. */
bool buffers_are_apart(const Program *program, int a, int b);
/* Whether a buffer's own memory holds a value of the entry during a step, and the bytes of all such. */
bool buffer_is_live(const Buffer *buffer, const ProgramEntry *entry, int step);
int64_t live_bytes(const Program *program, const ProgramEntry *entry, int step);
/* The task loop that goes around all rounds of the scan loop; NULL: none does. */
const TaskLoop *scan_task_loop(const ProgramEntry *entry, const ScanLoop *scan);
/* The number of the scan loop that begins with `step` inside of loop `outer` (-1: the entry), or
 * -1. */
int scan_loop_at(const ProgramEntry *entry, int step, int outer);

/* --report: layers with shapes and parameters, FLOPs and bytes of a step, memory, exact peak. */
void report_print(Text *text, const Program *program);
void report_print_json(Text *text, const Program *program);

#endif
