/* A process of nnc that compiles one text by NVRTC: see nvrtc.h. A crash of the library, and the
 * memory that it does not give back, are those of this process; several run side by side.
 *
 * The assembler keeps a kernel to as few registers as let another block run beside it, and for that
 * stores some in memory (spills). A kernel that spills is compiled once more with all the registers
 * that a block can have. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "backend/common/images.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/nvrtc.h"
#include "support/embedded.h"
#include "support/files.h"

const char nvrtc_worker_word[] = "--nvrtc-worker";

typedef struct Work {
  Arena *arena;
  Nvrtc nvrtc;
  NvrtcProgram program;
  const char *log;
  const char *image, *name;
  int option_count;
  const char *const *options;
} Work;

/* Says why the library did not do it. */
static int fail(const Work *work, const char *doing, int result) {
  fprintf(stderr, "nnc: error: NVRTC (%s) cannot %s: %s\n", work->nvrtc.path, doing,
          work->nvrtc.calls.error_string(result));
  return IMAGE_UNUSABLE;
}

/* The headers of kernels are embedded in nnc: NVRTC gets them as text. */
static int create_program(Work *work, const char *text) {
  static const char folder[] = "cuda_abi/";
  int count = 0;
  const char **texts = ARENA_ARRAY(work->arena, const char *, embedded_file_count + 1);
  const char **names = ARENA_ARRAY(work->arena, const char *, embedded_file_count + 1);
  for (int i = 0; i < embedded_file_count; i++) {
    const EmbeddedFile *file = &embedded_files[i];
    if (strncmp(file->name, folder, sizeof folder - 1) != 0) continue;
    texts[count] = file->text;
    names[count++] = file->name + sizeof folder - 1;
  }
  return work->nvrtc.calls.create(&work->program, text, work->name, count, texts, names);
}

/* ---- the log ---- */

/* Warnings of the assembler about wgmma that it had to put in sequence: code many times slower than
 * what was written. */
static bool is_poor(const char *log) {
  static const char *const warnings[] = {"(C7504)", "(C7508)", "(C7509)", "(C7510)",
                                         "(C7511)", "(C7514)", "(C7515)"};
  bool found = false;
  for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
    found = found || strstr(log, warnings[i]) != NULL;
  return found;
}

/* What the assembler says of every kernel: registers, spills. */
static bool is_note(const char *line) {
  static const char *const begins[] = {"ptxas info ", "ptxas         . "};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(line, begins[i], strlen(begins[i])) == 0) return true;
  return false;
}

/* Notes go to standard output, mistakes and warnings to standard error. */
static void print_log(const char *log) {
  while (*log) {
    size_t length = strcspn(log, "\n"), whole = length + (log[length] != 0);
    if (length > 0) fprintf(is_note(log) ? stdout : stderr, "%.*s\n", (int)length, log);
    log += whole;
  }
}

static const char *read_log(const Work *work) {
  size_t size = 0;
  if (work->nvrtc.calls.log_size(work->program, &size) != 0 || size == 0) return "";
  char *log = arena_alloc(work->arena, size + 1);
  return work->nvrtc.calls.log(work->program, log) == 0 ? log : "";
}

/* ---- the image ---- */

static bool has_option(const Work *work, const char *begin) {
  for (int i = 0; i < work->option_count; i++)
    if (strncmp(work->options[i], begin, strlen(begin)) == 0) return true;
  return false;
}

/* For a virtual architecture it is text, and its last byte the 0 after it. */
static int write_image(const Work *work) {
  const NvrtcCalls *calls = &work->nvrtc.calls;
  bool is_text = has_option(work, "--gpu-architecture=compute_");
  size_t size = 0;
  int result =
      is_text ? calls->ptx_size(work->program, &size) : calls->cubin_size(work->program, &size);
  char *image = arena_alloc(work->arena, size);
  if (!result)
    result = is_text ? calls->ptx(work->program, image) : calls->cubin(work->program, image);
  if (result) return fail(work, "give the image", result);
  if (file_write(work->image, 0666, image, size)) return 0;
  fprintf(stderr, "nnc: error: cannot write %s: %s\n", work->image, strerror(errno));
  return IMAGE_UNUSABLE;
}

/* ---- spills ---- */

static const char kernel_note[] = "Function properties for ", frame_note[] = " bytes stack frame, ";
static const char kernel_begin[] = "NNC_KERNEL(", alone_begin[] = "NNC_KERNEL_ALONE(";

/* Bytes that the kernel of a note stores and loads. */
static long spilled(const char *note) {
  long stores = 0, loads = 0;
  const char *numbers = strstr(note, frame_note);
  if (numbers)
    sscanf(numbers + sizeof frame_note - 1, "%ld bytes spill stores, %ld", &stores, &loads);
  return stores + loads;
}

static long all_spilled(const char *log) {
  long sum = 0;
  for (const char *at = log; (at = strstr(at, kernel_note)) != NULL; at++) sum += spilled(at);
  return sum;
}

/* Whether the log says that the kernel whose name begins here spills. */
static bool name_spills(const char *log, const char *name) {
  size_t length = strcspn(name, "(");
  for (const char *at = log; (at = strstr(at, kernel_note)) != NULL; at++) {
    const char *found = at + sizeof kernel_note - 1;
    if (strcspn(found, "\n") == length && strncmp(found, name, length) == 0) return spilled(at) > 0;
  }
  return false;
}

/* The text in which kernels that spill have more registers; NULL where none can. */
static const char *with_room(const Work *work, const char *text) {
  Text roomy = {0};
  const char *done = text;
  for (const char *at = text; (at = strstr(at, kernel_begin)) != NULL; at++) {
    char *end;
    bool can = strtol(at + sizeof kernel_begin - 1, &end, 10) < MOST_THREADS;
    if (!can || strncmp(end, ") ", 2) != 0 || !name_spills(work->log, end + 2)) continue;
    text_add_bytes(&roomy, done, (size_t)(at - done));
    text_add(&roomy, alone_begin);
    done = at + sizeof kernel_begin - 1;
  }
  if (done == text) return NULL;
  text_add(&roomy, done);
  return text_take(&roomy, work->arena);
}

/* ---- all ---- */

/* Returns NVRTC's result. */
static int attempt(Work *work, const char *text) {
  work->log = "";
  int result = create_program(work, text);
  if (result) return result;
  result = work->nvrtc.calls.compile(work->program, work->option_count, work->options);
  work->log = read_log(work);
  return result;
}

/* Where kernels spill, the better of two images. */
static void give_room(Work *work, const char *text) {
  const char *roomy = all_spilled(work->log) > 0 ? with_room(work, text) : NULL;
  if (roomy == NULL) return;
  Work other = *work, first = *work;
  other.program = NULL;
  bool is_better = attempt(&other, roomy) == 0 && !is_poor(other.log) &&
                   all_spilled(other.log) < all_spilled(work->log);
  if (is_better) *work = other;
  NvrtcProgram left = is_better ? first.program : other.program;
  if (left) work->nvrtc.calls.destroy(&left);
}

static int compile(Work *work, const char *text) {
  int result = attempt(work, text);
  if (result == 0) give_room(work, text);
  print_log(work->log);
  if (result == NVRTC_COMPILATION) return IMAGE_REFUSED;
  if (result) return fail(work, "compile the kernels", result);
  if (is_poor(work->log)) {
    fprintf(stderr, "%s", work->log);
    return IMAGE_POOR;
  }
  int status = write_image(work);
  work->nvrtc.calls.destroy(&work->program);
  return status;
}

int nvrtc_worker(int count, char **arguments) {
  Text text = {0};
  prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would take the image */
  if (count < 3) {
    fprintf(stderr, "usage: nnc %s LIBRARY IMAGE NAME OPTION... < TEXT\n", nvrtc_worker_word);
    return IMAGE_UNUSABLE;
  }
  if (!file_read_rest(STDIN_FILENO, &text, SIZE_MAX)) {
    fprintf(stderr, "nnc: error: cannot read the kernels: %s\n", strerror(errno));
    return IMAGE_UNUSABLE;
  }
  Work work = {.arena = arena_create(),
               .image = arguments[1],
               .name = arguments[2],
               .option_count = count - 3,
               .options = (const char *const *)arguments + 3};
  const char *objection = nvrtc_open(work.arena, &work.nvrtc, arguments[0]);
  if (objection != NULL)
    fprintf(stderr, "nnc: error: cannot use %s: %s\n", arguments[0], objection);
  int status = objection ? IMAGE_UNUSABLE : compile(&work, text.data ? text.data : "");
  text_free(&text);
  arena_destroy(work.arena);
  return status;
}
