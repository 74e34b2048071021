/* Messages of what the driver refuses: failure.h. */
#include "cuda/failure.h"

#include <stdio.h>
#include <stdlib.h>

#include "os/exit.h"
#include "os/message.h"

typedef struct Advice {
  CuResult result;
  const char *text;
} Advice;

#define FAULT_OF_OURS                                                                              \
  "A kernel of this program is wrong. This is a fault of nnc, unless the model has operators of "  \
  "its own "                                                                                       \
  "in CUDA: please report it with the model; compute-sanitizer, run on this program, tells which " \
  "kernel"

static const Advice advices[] = {
    {CU_OUT_OF_MEMORY, "Other programs may hold the device's memory: nvidia-smi lists them"},
    {CU_DEVICE_UNAVAILABLE,
     "Another program has the device for itself: nvidia-smi lists the programs; --device=N takes "
     "another device"},
    {CU_NO_DEVICE,
     "This machine has no NVIDIA GPU that may be used: nvidia-smi lists them, and the environment "
     "variable CUDA_VISIBLE_DEVICES hides some"},
    {CU_INVALID_IMAGE, "The driver may be too old for this program: install a newer one"},
    {CU_NO_BINARY_FOR_GPU, "The driver may be too old for this program: install a newer one"},
    {CU_ECC_UNCORRECTABLE,
     "The device's memory is faulty: 'nvidia-smi -q -d ECC' tells how often; reset the device, or "
     "take another one with --device=N"},
    {CU_INVALID_PTX, "The driver may be too old for this program: install a newer one, or compile "
                     "the model with an --arch for this very device"},
    {CU_UNSUPPORTED_PTX_VERSION,
     "The driver is older than the CUDA toolkit that made the program's PTX: install a newer "
     "driver, or compile the model with an --arch for this very device"},
    {CU_ILLEGAL_ADDRESS, FAULT_OF_OURS},
    {CU_LAUNCH_OUT_OF_RESOURCES, FAULT_OF_OURS},
    {CU_LAUNCH_TIMEOUT, "A kernel took longer than this device allows, as one that also drives a "
                        "screen: take another one with --device=N"},
    {CU_HARDWARE_STACK_ERROR, FAULT_OF_OURS},
    {CU_ILLEGAL_INSTRUCTION, FAULT_OF_OURS},
    {CU_MISALIGNED_ADDRESS, FAULT_OF_OURS},
    {CU_INVALID_ADDRESS_SPACE, FAULT_OF_OURS},
    {CU_INVALID_PC, FAULT_OF_OURS},
    {CU_LAUNCH_FAILED, FAULT_OF_OURS},
    {CU_SYSTEM_NOT_READY, "The devices' fabric manager does not run: start nvidia-fabricmanager"},
    {CU_SYSTEM_DRIVER_MISMATCH,
     "libcuda.so.1 and the kernel's module are of different versions: restart the machine after a "
     "change of the driver"},
    {CU_COMPAT_NOT_SUPPORTED,
     "The compatibility package of CUDA does not know this device: install a newer driver"},
    {CU_UNKNOWN, "The device may be lost: nvidia-smi and 'dmesg | grep -i xid' tell of it; restart "
                 "the machine if it does not answer"},
};

static const char *advice_for(CuResult result) {
  for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
    if (advices[i].result == result) return advices[i].text;
  return "nvidia-smi and 'dmesg | grep -i xid' may tell more";
}

bool nnc_cuda_explain(char *message, CuResult result, const char *doing) {
  const char *name = NULL, *text = NULL;
  char number[32];
  if (result == 0) return true;
  snprintf(number, sizeof number, "error %d", result);
  if (nnc_cuda.error_name(result, &name) != 0 || !name) name = number;
  if (nnc_cuda.error_text(result, &text) != 0 || !text) text = "unknown to the driver";
  snprintf(message, NNC_MESSAGE, "cannot %s: %s: %s. %s", doing, name, text, advice_for(result));
  return false;
}

bool nnc_cuda_worked(CuResult result, const char *doing) {
  char message[NNC_MESSAGE];
  if (nnc_cuda_explain(message, result, doing)) return true;
  nnc_error("%s", message);
  return false;
}

static struct {
  const char *entry;
  int64_t step, last, example;
} now;

void nnc_cuda_note_run(const char *entry, int64_t step, int64_t last, int64_t example) {
  now.entry = entry;
  now.step = step;
  now.last = last;
  now.example = example;
}

/* What a kernel does wrong is told by any later call. */
void nnc_cuda_must(CuResult result, const char *doing) {
  char message[NNC_MESSAGE], when[128] = "";
  if (nnc_cuda_explain(message, result, doing)) return;
  const char *or_before = result >= CU_ILLEGAL_ADDRESS ? " or the run before it" : "";
  if (now.entry && now.last > now.step)
    snprintf(when, sizeof when, "steps %lld to %lld%s: ", (long long)now.step, (long long)now.last,
             or_before);
  else if (now.entry && now.step > 0)
    snprintf(when, sizeof when, "step %lld, entry '%s'%s: ", (long long)now.step, now.entry,
             or_before);
  else if (now.entry)
    snprintf(when, sizeof when, "entry '%s', the batch from example %lld on%s: ", now.entry,
             (long long)now.example, or_before);
  nnc_error("%s%s. What was saved before stays as it is, and --resume continues it", when, message);
  exit(NNC_EXIT_FAILURE);
}
