/* Where the workers' blocks of memory lie. */
#ifndef NNC_PROGRAM_WORKSPACE_H
#define NNC_PROGRAM_WORKSPACE_H

#include "program/program.h"

/* Blocks of `bytes` each, one after the other from `at` on, bytes from the arena's base. */
typedef struct Workspace {
  int64_t at, bytes;
} Workspace;

typedef VEC(Workspace) WorkspaceList;

/* By step: bytes of the block that a worker needs. Values of task loops have their places in the
 * block. NULL where the target's blocks stay behind the arena. */
int64_t *workspace_of_steps(Arena *arena, const Program *program, const ProgramEntry *entry);

/* By time (barriers_before): the most that a worker's block needs then; NULL as above. */
int64_t *workspace_needs(Arena *arena, const Program *program, const ProgramEntry *entry,
                         const int *time);

/* Sets where the blocks are at each step of an entry, all of whose buffers have their offsets. */
void workspace_place(Program *program, ProgramEntry *entry);

/* While kernels of the entry fill what they keep; bytes 0: none needs a block then. */
Workspace workspace_of_filling(const ProgramEntry *entry);

/* Those that matter for how much memory a number of workers needs; none: the blocks stay behind the arena. */
WorkspaceList program_workspaces(Arena *arena, const Program *program);

/* Bytes of the arena and of the blocks of so many workers. */
int64_t program_bytes(const Program *program, int threads);

#endif
