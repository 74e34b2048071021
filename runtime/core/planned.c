#include "core/planned.h"

int64_t nnc_planned_bytes(const nnc_model *model, int workers) {
  int64_t most = model->arena_bytes;
  if (model->workspace_count == 0) return most + workers * model->worker_bytes;
  for (int i = 0; i < model->workspace_count; i++) {
    const nnc_workspace *space = &model->workspaces[i];
    const int64_t end = space->at + workers * space->bytes;
    if (end > most) most = end;
  }
  return most;
}
