/* A library with the functions of NVRTC that nnc calls. What it gives as an image is text: the name,
 * the options, the headers' names and the text that it was given. Variables of the environment say
 * how it behaves:
 *
 *   STAND_IN_VERSION   "12.4"; by default 13.0. Before 12.9 it knows no architecture after 90
 *   STAND_IN_LIST      a file that gets a line for each text compiled: the process
 *   STAND_IN_FAULT     refuse, poor, warn, memory, signal, hang; or meet:N, waits until N texts are
 *                      being compiled; or spill:N, the kernel squares spills 8 bytes, and N where
 *                      it may have all registers
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Program {
  const char *text, *name;
  char *image, *log;
  int header_count;
  const char *const *header_names;
} Program;

enum { OK, OUT_OF_MEMORY, COMPILATION = 6 };

const char *nvrtcGetErrorString(int result) {
  return result == OUT_OF_MEMORY ? "NVRTC_ERROR_OUT_OF_MEMORY" : "NVRTC_ERROR_COMPILATION";
}

int nvrtcVersion(int *major, int *minor) {
  const char *version = getenv("STAND_IN_VERSION");
  if (version == NULL || sscanf(version, "%d.%d", major, minor) != 2) *major = 13, *minor = 0;
  return OK;
}

static const int architectures[] = {75, 80, 90, 100, 120};

int nvrtcGetNumSupportedArchs(int *count) {
  int major, minor;
  nvrtcVersion(&major, &minor);
  *count = major > 12 || minor >= 9 ? 5 : 3;
  return OK;
}

int nvrtcGetSupportedArchs(int *list) {
  int count;
  nvrtcGetNumSupportedArchs(&count);
  memcpy(list, architectures, sizeof *list * (size_t)count);
  return OK;
}

int nvrtcCreateProgram(Program **program, const char *text, const char *name, int header_count,
                       const char *const *headers, const char *const *header_names) {
  *program = calloc(1, sizeof **program);
  **program = (Program){.text = strdup(text),
                        .name = strdup(name),
                        .log = strdup(""),
                        .header_count = header_count,
                        .header_names = header_names};
  return OK;
}

static const char *list_file(void) {
  const char *path = getenv("STAND_IN_LIST");
  return path ? path : "/dev/null";
}

static void note_compile(void) {
  FILE *list = fopen(list_file(), "a");
  if (list == NULL) return;
  fprintf(list, "%d\n", (int)getpid());
  fclose(list);
}

static int count_lines(void) {
  int lines = 0;
  FILE *list = fopen(list_file(), "r");
  for (int c; list != NULL && (c = getc(list)) != EOF;) lines += c == '\n';
  if (list != NULL) fclose(list);
  return lines;
}

static char *spill_log(const char *text, const char *more) {
  static char log[256];
  bool is_alone = strstr(text, "NNC_KERNEL_ALONE(256) squares(") != NULL;
  if (strstr(text, " squares(") == NULL) return "";
  snprintf(
      log, sizeof log,
      "ptxas info    : Function properties for squares\nptxas         .     8 bytes stack frame, "
      "%s bytes spill stores, 0 bytes spill loads\n",
      is_alone ? more : "8");
  return log;
}

/* Some seconds at most. */
static int meet(int count) {
  for (int i = 0; i < 1000 && count_lines() < count; i++)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  return count_lines() < count ? COMPILATION : OK;
}

static int misbehave(Program *program, const char *fault) {
  static char log[4096];
  if (!strcmp(fault, "memory")) return OUT_OF_MEMORY;
  if (!strcmp(fault, "signal")) raise(SIGKILL);
  if (!strcmp(fault, "hang")) sleep(60);
  if (!strncmp(fault, "meet:", 5)) return meet(atoi(fault + 5));
  if (!strncmp(fault, "spill:", 6)) program->log = spill_log(program->text, fault + 6);
  if (!strcmp(fault, "warn")) program->log = "kernels.cu(1): warning: a stand-in's\n";
  if (!strcmp(fault, "poor"))
    program->log = "ptxas info    : (C7508) Potential Performance Loss: a stand-in's\n";
  if (strcmp(fault, "refuse") != 0) return OK;
  const char *at = strstr(program->text, "__global__");
  int line = 1;
  for (const char *c = program->text; c < at; c++) line += *c == '\n';
  snprintf(log, sizeof log, "%s(%d): error: a stand-in's\n", program->name, line);
  program->log = log;
  return COMPILATION;
}

int nvrtcCompileProgram(Program *program, int count, const char *const *options) {
  size_t size;
  const char *fault = getenv("STAND_IN_FAULT");
  note_compile();
  int result = fault ? misbehave(program, fault) : OK;
  if (result) return result;
  FILE *image = open_memstream(&program->image, &size);
  fprintf(image, "image of %s:", program->name);
  for (int i = 0; i < count; i++) fprintf(image, " %s", options[i]);
  for (int i = 0; i < program->header_count; i++) fprintf(image, " %s", program->header_names[i]);
  fprintf(image, "\n%s", program->text);
  fclose(image);
  return OK;
}

int nvrtcGetProgramLogSize(Program *program, size_t *size) {
  *size = strlen(program->log) + 1;
  return OK;
}

int nvrtcGetProgramLog(Program *program, char *log) {
  strcpy(log, program->log);
  return OK;
}

int nvrtcGetCUBINSize(Program *program, size_t *size) {
  *size = strlen(program->image);
  return OK;
}

int nvrtcGetCUBIN(Program *program, char *cubin) {
  memcpy(cubin, program->image, strlen(program->image));
  return OK;
}

int nvrtcGetPTXSize(Program *program, size_t *size) {
  *size = strlen(program->image) + 1;
  return OK;
}

int nvrtcGetPTX(Program *program, char *ptx) {
  strcpy(ptx, program->image);
  return OK;
}

int nvrtcDestroyProgram(Program **program) {
  *program = NULL;
  return OK;
}
