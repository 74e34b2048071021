/* Fusion: which nodes one kernel computes. */
#include "program/lowering.h"

void groups_fuse(Lowering *lowering) {
  if (lowering->level == 0) return;
}
