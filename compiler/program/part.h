/* Phases that are parted to need less memory. */
#ifndef NNC_PROGRAM_PART_H
#define NNC_PROGRAM_PART_H

#include "program/program.h"

/* Puts barriers into the phases of an entry whose values and workers' blocks, of so many workers, need the most
 * memory, where that makes the whole entry need less and costs next to no time. Live ranges are known and go on to
 * be right; nothing is placed yet. */
void phases_part(Program *program, ProgramEntry *entry, int workers);

#endif
