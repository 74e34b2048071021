/* What the driver refuses, as messages that say what was being done, the driver's words, and what to do. */
#ifndef NNC_CUDA_FAILURE_H
#define NNC_CUDA_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/driver.h"

/* Whether it worked; if not, "cannot DOING: NAME: text. What to do" in `message`, NNC_MESSAGE bytes. */
bool nnc_cuda_explain(char *message, CuResult result, const char *doing);

/* The same, and the message is printed. */
bool nnc_cuda_worked(CuResult result, const char *doing);

/* What runs on the device from now on, for the message of a failure: an entry's name; `step` 0 outside
 * of training, where `example` is the batch's first; `last` the last step of those that go together. */
void nnc_cuda_note_run(const char *entry, int64_t step, int64_t last, int64_t example);

/* Ends the program with a message unless it worked. What the device has computed is lost then, and files
 * are as they were: nothing is saved after a failure of the device. */
void nnc_cuda_must(CuResult result, const char *doing);

#endif
