/* Instruction sets: what this processor has, and which level of the program it runs.
 *
 * Registers wider than SSE's are usable only when the system saves them: XGETBV tells. Intel 64 and
 * IA-32 Architectures Software Developer's Manual, volume 1, chapter 14. */
#include "core/level.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "os/matrix.h"
#include "os/message.h"

static const nnc_level *used;

const nnc_level *nnc_level_used(void) { return used; }

/* --- The processor -------------------------------------------------------------------------- */

#if defined(__x86_64__)
#include <cpuid.h>

enum { REGISTER_EAX, REGISTER_EBX, REGISTER_ECX, REGISTER_EDX };
enum { SAVES_NOTHING = 0, SAVES_YMM = 0x6, SAVES_ZMM = 0xe6, SAVES_MATRIX = 0x60000 };

typedef struct Extension {
  const char *name;       /* as in nnc_isa.h */
  unsigned leaf, subleaf; /* of CPUID */
  int place, bit;
  unsigned saved; /* the bits of XCR0 that it needs */
} Extension;

static const Extension extensions[] = {
    {"sse3", 1, 0, REGISTER_ECX, 0, SAVES_NOTHING},
    {"ssse3", 1, 0, REGISTER_ECX, 9, SAVES_NOTHING},
    {"fma", 1, 0, REGISTER_ECX, 12, SAVES_YMM},
    {"sse4.1", 1, 0, REGISTER_ECX, 19, SAVES_NOTHING},
    {"sse4.2", 1, 0, REGISTER_ECX, 20, SAVES_NOTHING},
    {"movbe", 1, 0, REGISTER_ECX, 22, SAVES_NOTHING},
    {"popcnt", 1, 0, REGISTER_ECX, 23, SAVES_NOTHING},
    {"avx", 1, 0, REGISTER_ECX, 28, SAVES_YMM},
    {"f16c", 1, 0, REGISTER_ECX, 29, SAVES_YMM},
    {"bmi", 7, 0, REGISTER_EBX, 3, SAVES_NOTHING},
    {"avx2", 7, 0, REGISTER_EBX, 5, SAVES_YMM},
    {"bmi2", 7, 0, REGISTER_EBX, 8, SAVES_NOTHING},
    {"avx512f", 7, 0, REGISTER_EBX, 16, SAVES_ZMM},
    {"avx512dq", 7, 0, REGISTER_EBX, 17, SAVES_ZMM},
    {"avx512cd", 7, 0, REGISTER_EBX, 28, SAVES_ZMM},
    {"avx512bw", 7, 0, REGISTER_EBX, 30, SAVES_ZMM},
    {"avx512vl", 7, 0, REGISTER_EBX, 31, SAVES_ZMM},
    {"avx512vbmi", 7, 0, REGISTER_ECX, 1, SAVES_ZMM},
    {"avx512vbmi2", 7, 0, REGISTER_ECX, 6, SAVES_ZMM},
    {"avx512vnni", 7, 0, REGISTER_ECX, 11, SAVES_ZMM},
    {"avx512bf16", 7, 1, REGISTER_EAX, 5, SAVES_ZMM},
    {"amx-bf16", 7, 0, REGISTER_EDX, 22, SAVES_MATRIX},
    {"amx-tile", 7, 0, REGISTER_EDX, 24, SAVES_MATRIX},
    {"lzcnt", 0x80000001, 0, REGISTER_ECX, 5, SAVES_NOTHING},
};

/* What the system saves: XCR0, 0 without XGETBV. */
static unsigned saved_state(void) {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 27 & 1)) return 0;
  __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return eax;
}

static bool has_extension(const Extension *extension) {
  unsigned registers[4] = {0};
  if (!__get_cpuid_count(extension->leaf, extension->subleaf, &registers[REGISTER_EAX],
                         &registers[REGISTER_EBX], &registers[REGISTER_ECX],
                         &registers[REGISTER_EDX]))
    return false;
  return (registers[extension->place] >> extension->bit & 1) != 0 &&
         (saved_state() & extension->saved) == extension->saved &&
         (extension->saved != SAVES_MATRIX || nnc_matrix_permit());
}

/* An extension that is not in the table counts as absent. */
static bool processor_has(const char *name) {
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
    if (strcmp(extensions[i].name, name) == 0) return has_extension(&extensions[i]);
  return false;
}
#else
static bool processor_has(const char *name) {
  (void)name; /* code for other families names no extensions */
  return false;
}
#endif

const char *nnc_level_lacks(const nnc_level *level) {
  static char name[32];
  for (const char *word = level->extensions; *word; word += strspn(word, " ")) {
    size_t length = strcspn(word, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (!processor_has(name)) return name;
    word += length;
  }
  return NULL;
}

/* --- The choice ----------------------------------------------------------------------------- */

static bool is_called(const nnc_level *level, const char *name) {
  size_t length = strlen(level->name), end = strlen(name);
  bool is_short = length > end && level->name[length - end - 1] == '-';
  return strcmp(level->name, name) == 0 ||
         (is_short && strcmp(level->name + length - end, name) == 0);
}

static void use(nnc_model *model, const nnc_level *level) {
  nnc_entry *const entries[NNC_ENTRY_COUNT] = {
      &model->init,     &model->train,   &model->accumulate,    &model->eval,
      &model->eval_one, &model->predict, &model->predict_batch, &model->generate};
  for (int i = 0; i < NNC_ENTRY_COUNT; i++) entries[i]->run = level->run[i];
  model->isa = level->isa;
  model->limits = level->limits;
  model->host = level->host;
  model->finish = level->finish;
  used = level;
}

static void refuse_unknown(const nnc_model *model, const char *asked) {
  char names[256] = "";
  for (int i = 0; i < model->level_count; i++) {
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", model->levels[i]->name);
  }
  nnc_error("--isa: this program is compiled for %s, not for '%s'", names, asked);
}

int nnc_level_choose(const char *asked) {
  nnc_model *model = &nnc_the_model;
  const nnc_level *best = model->levels[0], *found = NULL;
  for (int i = 0; i < model->level_count; i++) {
    if (asked && is_called(model->levels[i], asked)) found = model->levels[i];
    if (!nnc_level_lacks(model->levels[i])) best = model->levels[i];
  }
  use(model, found ? found : best);
  if (!asked || (found && !nnc_level_lacks(found))) return NNC_EXIT_OK;
  if (!found) {
    refuse_unknown(model, asked);
    return NNC_EXIT_USAGE;
  }
  nnc_error("--isa=%s: this processor has no %s", asked, nnc_level_lacks(found));
  return NNC_EXIT_FAILURE;
}
