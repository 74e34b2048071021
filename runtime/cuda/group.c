/* Recording and launching groups of steps: group.h. */
#include "cuda/group.h"

#include "cuda/failure.h"
#include "nnc_cuda_program.h"
#include "os/assert.h"

/* --- How many ------------------------------------------------------------------------------- */

int nnc_group_runs(const nnc_model *model) {
  return model->accumulation > 1 ? (int)model->accumulation : 1;
}

enum nnc_entry_number nnc_group_entry(const nnc_model *model, int number) {
  int runs = nnc_group_runs(model);
  return number % runs + 1 < runs ? NNC_RUN_ACCUMULATE : NNC_RUN_TRAIN;
}

/* About the seconds of a run on a large GPU. A launch takes some microseconds, however small it is. */
static double estimate(const nnc_entry *entry) {
  const double of_launch = 3e-6, flops = 1e13, bytes = 1e12;
  double launches = 0;
  for (int i = 0; i < entry->step_count; i++)
    if (entry->steps[i].kernel && *entry->steps[i].kernel)
      launches += entry->steps[i].rounds > 1 ? (double)entry->steps[i].rounds : 1;
  return launches * of_launch + entry->flops / flops + entry->bytes / bytes;
}

static double steps_of_a_group(const nnc_model *model) {
  const double seconds = 2e-3, most = 32;
  double step = estimate(&model->train);
  if (model->accumulation > 1)
    step += (double)(model->accumulation - 1) * estimate(&model->accumulate);
  return step * most < seconds ? most : seconds / step;
}

/* Indices that are checked are asked for after each run. */
int nnc_group_choose(const nnc_model *model, int64_t wanted) {
  double most = wanted > 0 ? (double)wanted : steps_of_a_group(model);
  int steps = 1;
  if (model->index_place_count > 0) return 1;
  while (steps < NNC_GROUP_MOST && 2 * steps <= most) steps *= 2;
  return steps * nnc_group_runs(model);
}

/* --- Putting -------------------------------------------------------------------------------- */

/* The run that stands at `place` on the device is told what it is told, and has its inputs. */
static void begin_run(const nnc_group *group, enum nnc_entry_number number, int place) {
  const nnc_slots *slots = group->slots;
  nnc_told told = {slots->told + (CuAddress)(place * slots->told_bytes), slots->state,
                   slots->state_bytes / (int64_t)sizeof(uint64_t)};
  nnc_kept_launch(group->kept, group->play, number, &told);
}

void nnc_group_fetch(const nnc_group *group, enum nnc_entry_number number, char *to) {
  const nnc_numbers *numbers = &group->numbers[number];
  for (int i = 0; i < numbers->count; i++) {
    const nnc_span *span = &numbers->spans[i];
    nnc_cuda_must(nnc_cuda.copy_out(to + span->at, group->arena + (CuAddress)span->offset,
                                    (size_t)span->bytes, group->slots->gpu->stream),
                  "read the accumulators");
  }
}

/* Until the group has ended they stay with the device. */
static void put_aside(const nnc_group *group, enum nnc_entry_number number, int place) {
  const nnc_numbers *numbers = &group->numbers[number];
  CuAddress aside = group->slots->aside + (CuAddress)(place * group->slots->answer_bytes);
  for (int i = 0; i < numbers->count; i++)
    nnc_play_copy(group->play, aside + (CuAddress)numbers->spans[i].at,
                  group->arena + (CuAddress)numbers->spans[i].offset, numbers->spans[i].bytes);
}

static const nnc_entry *entry_of(const nnc_model *model, enum nnc_entry_number number) {
  return number == NNC_RUN_TRAIN ? &model->train : &model->accumulate;
}

/* What a graph is recorded of. */
typedef struct Recording {
  const nnc_group *group;
  int runs;
} Recording;

static void record_runs(void *context) {
  const Recording *recording = context;
  const nnc_group *group = recording->group;
  for (int i = 0; i < recording->runs; i++) {
    enum nnc_entry_number number = nnc_group_entry(group->model, i);
    begin_run(group, number, i);
    nnc_play_run(group->play, entry_of(group->model, number));
    put_aside(group, number, i);
  }
}

/* 1 << power steps from run `first` of the slot on. */
static void put_graph(nnc_group *group, const nnc_slot *slot, int first, int power) {
  const nnc_slots *slots = group->slots;
  int count = nnc_group_runs(group->model) << power;
  CuGraphExec *graph = &group->graphs[power];
  nnc_slots_tell(slots, slot, first, count);
  if (!*graph) *graph = nnc_play_record(group->play, record_runs, &(Recording){group, count});
  nnc_play_launch_graph(group->play, *graph);
  nnc_cuda_must(nnc_cuda.copy_out(slot->numbers + first * slots->answer_bytes, slots->aside,
                                  (size_t)(count * slots->answer_bytes), slots->gpu->stream),
                "read the accumulators");
}

static void put_single(nnc_group *group, const nnc_slot *slot, int number) {
  enum nnc_entry_number entry = slot->runs[number].entry;
  nnc_slots_note(slot, number, 1);
  nnc_slots_tell(group->slots, slot, number, 1);
  begin_run(group, entry, 0);
  nnc_play_entry(group->play, entry_of(group->model, entry), entry);
  nnc_group_fetch(group, entry, slot->numbers + number * group->slots->answer_bytes);
}

void nnc_group_put(nnc_group *group, const nnc_slot *slot, int first, int count) {
  int runs = nnc_group_runs(group->model), end = first + count;
  NNC_ASSERT(end <= slot->count);
  nnc_slots_note(slot, first, count);
  for (int power = NNC_GROUP_GRAPHS - 1; power > 0; power--)
    for (; end - first >= runs << power; first += runs << power)
      put_graph(group, slot, first, power);
  for (; first < end; first++) put_single(group, slot, first);
}

void nnc_group_close(nnc_group *group) {
  for (int i = 0; i < NNC_GROUP_GRAPHS; i++)
    if (group->graphs[i]) (void)nnc_cuda.exec_destroy(group->graphs[i]);
  *group = (nnc_group){0};
}
