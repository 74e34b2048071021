/* A stand-in for libnvrtc.so.13: the functions of NVRTC over a C++ compiler of the host. The
 * "cubin" is a shared object with the kernels as host code and a table of them
 * (nnc_emulated_unit.h); the "PTX" is the same in hexadecimal digits after a line of comment. Only
 * the stand-in for the driver can load them.
 *
 * NNC_EMULATOR_CXX    the compiler; else clang++, else g++
 * NNC_EMULATOR_FLAGS  words for it after ours, such as -O0
 * NNC_EMULATOR_RACES  1: code that tells of each access to memory, for races.c
 *
 * These and the texts of the headers go into the minor version that nvrtcVersion tells, so that
 * what nnc caches of one is not taken for another. Checks of the compiler are on: an index
 * outside an array that the text declares, and an address that is not a multiple of its type's
 * alignment, end in SIGILL. */
#include "nvrtc_compile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6
};

typedef struct Program {
  Sources sources;
  Compiled compiled;
  char *option_log; /* what is wrong with the options, or NULL */
  bool is_machine_code;
} Program;

static const int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

EXPORT const char *nvrtcGetErrorString(int result) {
  static const char *const names[] = {"NVRTC_SUCCESS",
                                      "NVRTC_ERROR_OUT_OF_MEMORY",
                                      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                      "NVRTC_ERROR_INVALID_INPUT",
                                      "NVRTC_ERROR_INVALID_PROGRAM",
                                      "NVRTC_ERROR_INVALID_OPTION",
                                      "NVRTC_ERROR_COMPILATION"};
  return result >= 0 && result < (int)(sizeof names / sizeof *names) ? names[result]
                                                                     : "NVRTC_ERROR unknown";
}

EXPORT int nvrtcVersion(int *major, int *minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = 13, *minor = compiler_variant();
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcGetNumSupportedArchs(int *count) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = sizeof architectures / sizeof *architectures;
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcGetSupportedArchs(int *to) {
  if (!to) return NVRTC_ERROR_INVALID_INPUT;
  memcpy(to, architectures, sizeof architectures);
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcCreateProgram(Program **to, const char *source, const char *name, int header_count,
                              const char *const *headers, const char *const *header_names) {
  if (!to || !source || header_count < 0) return NVRTC_ERROR_INVALID_INPUT;
  Program *program = calloc(1, sizeof *program);
  if (!program) return NVRTC_ERROR_OUT_OF_MEMORY;
  Sources *sources = &program->sources;
  sources->text = strdup(source), sources->name = strdup(name ? name : "default_program");
  sources->header_count = header_count;
  sources->headers = calloc((size_t)header_count + 1, sizeof *sources->headers);
  sources->header_names = calloc((size_t)header_count + 1, sizeof *sources->header_names);
  for (int i = 0; i < header_count; i++) {
    sources->headers[i] = strdup(headers[i]);
    sources->header_names[i] = strdup(header_names[i]);
  }
  *to = program;
  return NVRTC_SUCCESS;
}

static void forget_result(Program *program) {
  free(program->compiled.log), free(program->compiled.image), free(program->option_log);
  program->compiled = (Compiled){0}, program->option_log = NULL;
}

EXPORT int nvrtcDestroyProgram(Program **at) {
  if (!at || !*at) return NVRTC_ERROR_INVALID_PROGRAM;
  Program *program = *at;
  forget_result(program);
  for (int i = 0; i < program->sources.header_count; i++) {
    free(program->sources.headers[i]), free(program->sources.header_names[i]);
  }
  free(program->sources.headers), free(program->sources.header_names);
  free(program->sources.text), free(program->sources.name);
  free(program);
  *at = NULL;
  return NVRTC_SUCCESS;
}

/* ---- options ---- */

/* What follows `name` in the option (after "=" or at once, as for -D), or NULL if it is another
 * option. */
static const char *value_of(const char *option, const char *name) {
  size_t length = strlen(name);
  return strncmp(option, name, length) ? NULL : option + length;
}

/* "sm_90", "compute_120", with an `a` or `f` after newer ones. */
static bool is_architecture(const char *name) {
  const char *number = strchr(name, '_');
  if (!number || (strncmp(name, "sm_", 3) && strncmp(name, "compute_", 8))) return false;
  char *end;
  long value = strtol(number + 1, &end, 10);
  if (*end && strcmp(end, "a") && strcmp(end, "f")) return false;
  if (*end && value < 90) return false;
  for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
    if (architectures[i] == value) return true;
  }
  return false;
}

/* Options of NVRTC that change nothing here; those that end with "=" take any value. */
static const char *const ignored[] = {"--fmad=",
                                      "-fmad=",
                                      "--std=",
                                      "-std=",
                                      "--ftz=",
                                      "-ftz=",
                                      "--prec-div=",
                                      "-prec-div=",
                                      "--prec-sqrt=",
                                      "-prec-sqrt=",
                                      "--maxrregcount=",
                                      "-maxrregcount=",
                                      "--restrict",
                                      "-restrict",
                                      "--no-cache",
                                      "-no-cache",
                                      "--minimal",
                                      "-minimal",
                                      "--disable-warnings",
                                      "-w",
                                      "--use_fast_math",
                                      "-use_fast_math",
                                      "--device-as-default-execution-space",
                                      "-default-device",
                                      "--generate-line-info",
                                      "-lineinfo",
                                      "--dopt=",
                                      "-dopt",
                                      "--ptxas-options=",
                                      "-Xptxas=",
                                      "--split-compile=",
                                      "-split-compile=",
                                      "--extra-device-vectorization",
                                      "-extra-device-vectorization",
                                      "--no-source-include",
                                      "-no-source-include",
                                      "--diag-suppress=",
                                      "-diag-suppress=",
                                      "--no-display-error-number",
                                      "-no-err-no"};

static bool is_ignored(const char *option) {
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
    size_t length = strlen(ignored[i]);
    if (ignored[i][length - 1] == '=' ? !strncmp(option, ignored[i], length)
                                      : !strcmp(option, ignored[i])) {
      return true;
    }
  }
  return false;
}

static bool take_option(const char *option, Request *request) {
  static const char *const machine[] = {"--gpu-architecture=", "-arch=", "-arch "};
  static const char *const passed[][2] = {{"--define-macro=", "-D"},   {"-D", "-D"},
                                          {"--undefine-macro=", "-U"}, {"-U", "-U"},
                                          {"--include-path=", "-I"},   {"-I", "-I"}};
  for (size_t i = 0; i < sizeof machine / sizeof *machine; i++) {
    const char *value = value_of(option, machine[i]);
    if (!value) continue;
    request->architecture = value;
    return is_architecture(value);
  }
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
    const char *value = value_of(option, passed[i][0]);
    if (!value || !*value) continue;
    if (request->word_count == MOST_WORDS) return false;
    char *word = request->words[request->word_count++];
    return snprintf(word, WORD_LENGTH, "%s%s", passed[i][1], value) < WORD_LENGTH;
  }
  return is_ignored(option);
}

EXPORT int nvrtcCompileProgram(Program *program, int option_count, const char *const *options) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  forget_result(program);
  Request request = {.sources = &program->sources, .architecture = "compute_75"};
  for (int i = 0; i < option_count; i++) {
    if (take_option(options[i], &request)) continue;
    size_t length = strlen(options[i]) + 100;
    program->option_log = malloc(length);
    snprintf(program->option_log, length, "nvrtc: error: unrecognized option %s found\n",
             options[i]);
    return NVRTC_ERROR_INVALID_OPTION;
  }
  program->is_machine_code = !strncmp(request.architecture, "sm_", 3);
  return compile_unit(&request, &program->compiled) ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

/* ---- results ---- */

static const char *log_of(const Program *program) {
  if (program->option_log) return program->option_log;
  return program->compiled.log ? program->compiled.log : "";
}

EXPORT int nvrtcGetProgramLogSize(Program *program, size_t *size) {
  if (!program || !size) return NVRTC_ERROR_INVALID_PROGRAM;
  *size = strlen(log_of(program)) + 1;
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcGetProgramLog(Program *program, char *to) {
  if (!program || !to) return NVRTC_ERROR_INVALID_PROGRAM;
  strcpy(to, log_of(program));
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcGetCUBINSize(Program *program, size_t *size) {
  if (!program || !size || !program->compiled.image) return NVRTC_ERROR_INVALID_PROGRAM;
  *size = program->is_machine_code ? program->compiled.size : 0;
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcGetCUBIN(Program *program, char *to) {
  if (!program || !to || !program->compiled.image) return NVRTC_ERROR_INVALID_PROGRAM;
  if (program->is_machine_code) memcpy(to, program->compiled.image, program->compiled.size);
  return NVRTC_SUCCESS;
}

static const char ptx_head[] = "// PTX of the nnc CUDA emulator\n";

EXPORT int nvrtcGetPTXSize(Program *program, size_t *size) {
  if (!program || !size || !program->compiled.image) return NVRTC_ERROR_INVALID_PROGRAM;
  *size = strlen(ptx_head) + 2 * program->compiled.size + 2; /* a newline, a zero */
  return NVRTC_SUCCESS;
}

EXPORT int nvrtcGetPTX(Program *program, char *to) {
  if (!program || !to || !program->compiled.image) return NVRTC_ERROR_INVALID_PROGRAM;
  to += sprintf(to, "%s", ptx_head);
  for (size_t i = 0; i < program->compiled.size; i++) {
    unsigned char byte = (unsigned char)program->compiled.image[i];
    *to++ = "0123456789abcdef"[byte >> 4];
    *to++ = "0123456789abcdef"[byte & 15];
  }
  *to++ = '\n', *to = 0;
  return NVRTC_SUCCESS;
}
