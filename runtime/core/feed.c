/* Inputs of different entries of one program have the same names: see feed.h. */
#include "core/feed.h"

#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "os/assert.h"
#include "os/message.h"

static const nnc_tensor *find_input(const nnc_entry *entry, const char *name) {
  for (int i = 0; i < entry->input_count; i++)
    if (strcmp(entry->inputs[i].name, name) == 0) return &entry->inputs[i];
  return NULL;
}

bool nnc_feed_open(nnc_feed *feed, nnc_device *device, const nnc_entry *from,
                   const nnc_entry *entry) {
  size_t count = (size_t)from->input_count + 1;
  *feed = (nnc_feed){.device = device, .count = from->input_count};
  feed->inputs = calloc(count, sizeof *feed->inputs);
  feed->places = calloc(count, sizeof *feed->places);
  if (!feed->inputs || !feed->places) {
    nnc_error("cannot allocate the places of %d inputs", from->input_count);
    return false;
  }
  for (int i = 0; i < from->input_count; i++) {
    const nnc_tensor *input = find_input(entry, from->inputs[i].name);
    feed->inputs[i] = input ? input : &from->inputs[i];
  }
  for (int i = 0; i < entry->input_count; i++) {
    if (find_input(from, entry->inputs[i].name)) continue;
    nnc_error("the compiled program is inconsistent: no data were opened for the input '%s'",
              entry->inputs[i].name);
    return false;
  }
  return true;
}

void nnc_feed_close(nnc_feed *feed) {
  free(feed->inputs);
  free(feed->places);
  *feed = (nnc_feed){.count = 0};
}

void *const *nnc_feed_begin(nnc_feed *feed) {
  NNC_ASSERT(feed->places);
  for (int i = 0; i < feed->count; i++)
    feed->places[i] = nnc_device_begin_write(feed->device, feed->inputs[i]);
  return feed->places;
}

void nnc_feed_repeat(nnc_feed *feed, int64_t rows, int64_t batch) {
  for (int i = 0; i < feed->count; i++) {
    const nnc_tensor *input = feed->inputs[i];
    if (input->rank == 0 || input->dim[0] != batch) continue; /* an input of another entry */
    size_t bytes = (size_t)(nnc_tensor_bytes(input) / batch);
    char *first = feed->places[i];
    for (int64_t row = rows; row < batch; row++) memcpy(first + (size_t)row * bytes, first, bytes);
  }
}

void nnc_feed_end(nnc_feed *feed) {
  for (int i = 0; i < feed->count; i++) nnc_device_end_write(feed->device, feed->inputs[i]);
}
