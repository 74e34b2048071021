#include "failures.h"

#include "cuda_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Failure {
  char name[64];
  long count;
  int error;
} Failure;

static Failure failures[16];
static int failure_count = -1;

static void read_failures(void) {
  const char *text = getenv("NNC_EMULATOR_FAIL");
  failure_count = 0;
  while (text && *text && failure_count < 16) {
    Failure *failure = &failures[failure_count];
    if (sscanf(text, "%63[^:]:%ld:%d", failure->name, &failure->count, &failure->error) != 3) {
      fprintf(stderr, "nnc emulator: NNC_EMULATOR_FAIL is a list of NAME:COUNT:ERROR, not %s\n",
              text);
      exit(1);
    }
    failure_count++;
    text += strcspn(text, ",");
    text += *text == ',';
  }
}

int failure_of(const char *name) {
  if (failure_count < 0) read_failures();
  for (int i = 0; i < failure_count; i++) {
    if (!strcmp(failures[i].name, name) && --failures[i].count == 0) return failures[i].error;
  }
  return 0;
}

bool failure_is_lasting(int error) {
  return (error >= CUDA_ERROR_ILLEGAL_ADDRESS && error <= CUDA_ERROR_LAUNCH_FAILED &&
          error != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) ||
         error == CUDA_ERROR_ECC_UNCORRECTABLE || error == CUDA_ERROR_DEVICE_UNAVAILABLE;
}
