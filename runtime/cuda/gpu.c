/* Finding and opening the device: gpu.h. */
#include "cuda/gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/failure.h"
#include "nnc_cuda_program.h"
#include "os/memory.h"
#include "os/message.h"

const char *nnc_gpu_text(char *text, const nnc_gpu *gpu) {
  snprintf(text, NNC_GPU_TEXT, "device %d (%s)", gpu->number, gpu->name);
  return text;
}

static bool check_version(char *message) {
  int version;
  if (!nnc_cuda_explain(message, nnc_cuda.version(&version), "ask the NVIDIA driver its version"))
    return false;
  if (version >= NNC_CUDA_LEAST_DRIVER) return true;
  snprintf(
      message, NNC_MESSAGE,
      "the NVIDIA driver is too old: it is for CUDA %d.%d, this program needs one for CUDA 12.0 "
      "or newer (525.60 or newer; nvidia-smi shows what is installed)",
      version / 1000, version % 1000 / 10);
  return false;
}

/* What the user has set stays. A kernel that the driver loads as late as its first launch would be loaded
 * while a graph is captured; but a library has many that are never launched. Devices are numbered as
 * nvidia-smi does. */
static bool set_environment(char *message) {
  bool is_eager = nnc_the_cuda_program.library == NULL;
  if ((!is_eager || setenv("CUDA_MODULE_LOADING", "EAGER", 0) == 0) &&
      setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0) == 0)
    return true;
  snprintf(message, NNC_MESSAGE, "cannot set the environment of the NVIDIA driver");
  return false;
}

static bool prepare(char *message) {
  static bool is_ready;
  if (is_ready) return true;
  if (!set_environment(message)) return false;
  is_ready = nnc_cuda_explain(message, nnc_cuda.init(0), "start the NVIDIA driver");
  return is_ready && check_version(message);
}

static bool check_number(int number, char *message) {
  int count = 0;
  if (!nnc_cuda_explain(message, nnc_cuda.device_count(&count), "count the NVIDIA GPUs"))
    return false;
  if (count == 0) {
    nnc_cuda_explain(message, CU_NO_DEVICE, "find an NVIDIA GPU");
    return false;
  }
  if (number < count) return true;
  if (count == 1)
    snprintf(message, NNC_MESSAGE, "--device=%d: this machine has one NVIDIA GPU, number 0",
             number);
  else
    snprintf(message, NNC_MESSAGE, "--device=%d: this machine has %d NVIDIA GPUs, numbers 0 to %d",
             number, count, count - 1);
  return false;
}

static bool describe(nnc_gpu *gpu, char *message) {
  const char *doing = "ask the NVIDIA GPU what it is";
  CuDevice device = gpu->device;
  return nnc_cuda_explain(message, nnc_cuda.device_name(gpu->name, (int)sizeof gpu->name, device),
                          doing) &&
         nnc_cuda_explain(message, nnc_cuda.device_memory(&gpu->memory, device), doing) &&
         nnc_cuda_explain(
             message, nnc_cuda.device_attribute(&gpu->major, CU_CAPABILITY_MAJOR, device), doing) &&
         nnc_cuda_explain(
             message, nnc_cuda.device_attribute(&gpu->minor, CU_CAPABILITY_MINOR, device), doing) &&
         nnc_cuda_explain(
             message, nnc_cuda.device_attribute(&gpu->multiprocessors, CU_MULTIPROCESSORS, device),
             doing);
}

bool nnc_gpu_find(nnc_gpu *gpu, int number, char *message) {
  *gpu = (nnc_gpu){.number = number > 0 ? number : 0};
  return nnc_cuda_driver_open(message) && prepare(message) && check_number(gpu->number, message) &&
         nnc_cuda_explain(message, nnc_cuda.device_get(&gpu->device, gpu->number),
                          "open the NVIDIA GPU") &&
         describe(gpu, message);
}

bool nnc_gpu_open(nnc_gpu *gpu) {
  char text[NNC_GPU_TEXT], doing[NNC_GPU_TEXT + 16];
  snprintf(doing, sizeof doing, "open %s", nnc_gpu_text(text, gpu));
  if (nnc_cuda_worked(nnc_cuda.context_retain(&gpu->context, gpu->device), doing) &&
      nnc_cuda_worked(nnc_cuda.context_use(gpu->context), doing) &&
      nnc_cuda_worked(nnc_cuda.stream_create(&gpu->stream, CU_STREAM_NON_BLOCKING), doing) &&
      nnc_cuda_worked(nnc_cuda.stream_create(&gpu->copy_stream, CU_STREAM_NON_BLOCKING), doing))
    return true;
  nnc_gpu_close(gpu);
  return false;
}

/* Whether that works no longer matters. */
void nnc_gpu_close(nnc_gpu *gpu) {
  if (gpu->stream) (void)nnc_cuda.stream_destroy(gpu->stream);
  if (gpu->copy_stream) (void)nnc_cuda.stream_destroy(gpu->copy_stream);
  if (gpu->context) (void)nnc_cuda.context_release(gpu->device);
  gpu->stream = gpu->copy_stream = NULL;
  gpu->context = NULL;
}

CuEvent nnc_gpu_event(unsigned flags) {
  CuEvent event;
  return nnc_cuda_worked(nnc_cuda.event_create(&event, flags), "create an event") ? event : NULL;
}

static void refuse(const nnc_gpu *gpu, int64_t bytes, const char *purpose) {
  size_t free = 0, total = gpu->memory;
  char wanted[NNC_FORMAT_BYTES], there[NNC_FORMAT_BYTES], all[NNC_FORMAT_BYTES];
  char plan[NNC_FORMAT_BYTES], text[NNC_GPU_TEXT];
  (void)nnc_cuda.memory_info(&free, &total); /* else nothing is free */
  nnc_error("cannot take %s for %s: %s has %s free of %s, and the program needs %s in all. "
            "nvidia-smi lists the programs that hold memory; a smaller batch needs less, and 'nnc "
            "--memory-limit' plans for what there is",
            nnc_format_bytes(wanted, (double)bytes), purpose, nnc_gpu_text(text, gpu),
            nnc_format_bytes(there, (double)free), nnc_format_bytes(all, (double)total),
            nnc_format_bytes(plan, (double)gpu->planned));
}

bool nnc_gpu_take(const nnc_gpu *gpu, CuAddress *address, int64_t bytes, const char *purpose) {
  char doing[160];
  CuResult result = nnc_cuda.memory_take(address, (size_t)(bytes > 0 ? bytes : 1));
  if (result == CU_OUT_OF_MEMORY) {
    refuse(gpu, bytes, purpose);
    return false;
  }
  snprintf(doing, sizeof doing, "take memory for %s", purpose);
  return nnc_cuda_worked(result, doing);
}

void *nnc_gpu_take_pinned(int64_t bytes, const char *purpose) {
  char text[NNC_FORMAT_BYTES], doing[160];
  void *memory;
  snprintf(doing, sizeof doing, "take %s of the host's memory for %s",
           nnc_format_bytes(text, (double)bytes), purpose);
  CuResult result = nnc_cuda.host_take(&memory, (size_t)(bytes > 0 ? bytes : 1), 0);
  return nnc_cuda_worked(result, doing) ? memory : NULL;
}
