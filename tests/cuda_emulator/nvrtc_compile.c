/* The text and the headers go into a temporary folder, the table of kernels after the text: they
 * are found as NNC_KERNEL(THREADS) NAME( or NNC_KERNEL_ALONE(THREADS) NAME( outside of comments;
 * conditions of the preprocessor stand in the table, too. Then the compiler makes a shared object
 * of it. */
#include "nvrtc_compile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const shim[] = {"nnc_emulated_interface.h", "nnc_emulated_machine.h",
                                   "nnc_emulated_tensor.h", "nnc_emulated_unit.h",
                                   "nnc_emulated_wgmma.h"};

static const char *const usual[] = {
    "-w",
    /* generated code need not look as if written by hand */ "-std=c++17",
    "-O1",
    "-g1",
    "-fPIC",
    "-c",
    "-nostdinc++",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-DNNC_EMULATED"};

static const char *const checks[] = {"-fsanitize=alignment,bounds"};
static const char *const races[] = {"-fsanitize=thread", "-DNNC_EMULATED_RACES"};

typedef struct Words {
  char *words[256];
  int count;
} Words;

static void add(Words *words, const char *format, ...) {
  va_list list;
  va_start(list, format);
  if (words->count < 255 && vasprintf(&words->words[words->count], format, list) >= 0) {
    words->count++;
  }
  va_end(list);
}

static bool finds(const char *program) {
  char path[4096];
  if (strchr(program, '/')) return access(program, X_OK) == 0;
  for (const char *at = getenv("PATH"); at && *at;) {
    size_t length = strcspn(at, ":");
    snprintf(path, sizeof path, "%.*s/%s", (int)length, at, program);
    if (access(path, X_OK) == 0) return true;
    at += length + (at[length] == ':');
  }
  return false;
}

static const char *compiler(void) {
  const char *chosen = getenv("NNC_EMULATOR_CXX");
  if (chosen && *chosen) return chosen;
  return finds("clang++") ? "clang++" : "g++";
}

static bool finds_races(void) {
  const char *value = getenv("NNC_EMULATOR_RACES");
  return value && *value && strcmp(value, "0");
}

static bool is_clang(void) {
  const char *name = strrchr(compiler(), '/');
  return strstr(name ? name : compiler(), "clang") != NULL;
}

/* What each of the two spells in its own way: traps instead of messages; volatile accesses told
 * apart. */
static void add_own_flags(Words *words) {
  add(words,
      is_clang() ? "-fsanitize-trap=alignment,bounds" : "-fsanitize-undefined-trap-on-error");
  if (!finds_races()) return;
  if (is_clang()) add(words, "-mllvm");
  add(words, is_clang() ? "-tsan-distinguish-volatile" : "--param=tsan-distinguish-volatile=1");
}

static void add_flags(Words *words) {
  add(words, "%s", compiler());
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) add(words, "%s", usual[i]);
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) add(words, "%s", checks[i]);
  add_own_flags(words);
  add(words, "-I%s", EMULATOR_FOLDER);
  for (size_t i = 0; finds_races() && i < sizeof races / sizeof *races; i++) {
    add(words, "%s", races[i]);
  }
#ifdef __x86_64__
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) add(words, "-mfma");
#endif
  const char *flags = getenv("NNC_EMULATOR_FLAGS");
  while (flags && *flags) {
    size_t blank = strspn(flags, " "), length = strcspn(flags + blank, " ");
    if (length) add(words, "%.*s", (int)length, flags + blank);
    flags += blank + length;
  }
}

/* ---- files ---- */

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  char *text = malloc((size_t)length + 1);
  if (text && fread(text, 1, (size_t)length, file) != (size_t)length) free(text), text = NULL;
  fclose(file);
  if (text) text[length] = 0, *size = (size_t)length;
  return text;
}

/* Writes a file below the folder; the folders of its name are made. */
static bool write_below(const char *folder, const char *name, const char *text) {
  char path[4096];
  if (name[0] == '/' || strstr(name, "..")) return false;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    mkdir(path, 0700);
  }
  FILE *file = fopen(path, "w");
  if (!file) return false;
  bool is_written = fputs(text, file) >= 0;
  return fclose(file) == 0 && is_written;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
  return remove(path);
}

/* ---- the table of kernels ---- */

static const char *skip_blank(const char *at) {
  for (;;) {
    if (isspace((unsigned char)*at)) at++;
    else if (!strncmp(at, "//", 2)) at += strcspn(at, "\n");
    else if (!strncmp(at, "/*", 2)) {
      const char *end = strstr(at + 2, "*/");
      at = end ? end + 2 : at + strlen(at);
    } else return at;
  }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_condition(const char *directive) {
  static const char *const names[] = {"if", "ifdef", "ifndef", "elif", "else", "endif"};
  const char *begin = directive + 1 + strspn(directive + 1, " \t"), *end = begin;
  while (is_word(*end)) end++;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == (size_t)(end - begin) && !strncmp(begin, names[i], strlen(names[i])))
      return true;
  return false;
}

/* After the directive, with the lines that a backslash joins to it. */
static const char *skip_directive(const char *at, FILE *to) {
  const char *begin = at;
  do {
    at += strcspn(at, "\n");
  } while (*at && *at++ && at[-2] == '\\');
  if (is_condition(begin)) fprintf(to, "%.*s\n", (int)(at - begin), begin);
  return at;
}

/* Whether the word marks a kernel. */
static bool is_mark(const char *begin, const char *end) {
  static const char *const marks[] = {"NNC_KERNEL", "NNC_KERNEL_ALONE"};
  for (int i = 0; i < 2; i++)
    if (strlen(marks[i]) == (size_t)(end - begin) && !strncmp(begin, marks[i], strlen(marks[i])))
      return true;
  return false;
}

/* What follows the next NNC_KERNEL at or after `at` outside of comments and directives, or NULL. */
static const char *find_kernel(const char *at, FILE *to) {
  for (;;) {
    at = skip_blank(at);
    if (!*at) return NULL;
    if (*at == '#') at = skip_directive(at, to);
    else if (*at == '"') {
      for (at++; *at && *at != '"' && *at != '\n'; at++) at += *at == '\\' && at[1];
      if (*at) at++;
    } else if (is_word(*at)) {
      const char *begin = at;
      while (is_word(*at)) at++;
      if (is_mark(begin, at)) return at;
    } else at++;
  }
}

/* Writes the table's line for a kernel; returns where to look on. */
static const char *list_kernel(const char *at, FILE *to) {
  const char *begin = skip_blank(at);
  if (*begin != '(') return begin;
  int depth = 0;
  const char *end = begin;
  do {
    depth += *end == '(';
    depth -= *end == ')';
  } while (*end++ && depth);
  const char *name = skip_blank(end);
  int length = 0;
  while (is_word(name[length])) length++;
  if (length && *skip_blank(name + length) == '(') {
    fprintf(to, "NNC_UNIT_KERNEL(%.*s, %.*s)\n", length, name, (int)(end - begin), begin);
  }
  return name + length;
}

/* The name under which the text is compiled: the caller's, without folders. */
static const char *file_name(const Request *request) {
  const char *name = strrchr(request->sources->name, '/');
  name = name ? name + 1 : request->sources->name;
  return *name && strlen(name) < 200 ? name : "unit.cu";
}

static char *make_text(const Request *request) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (!to) return NULL;
  fprintf(to, "#include \"nnc_emulated_machine.h\"\n#line 1 \"%s\"\n%s\n", file_name(request),
          request->sources->text);
  fputs("#line 1 \"kernels\"\n#include \"nnc_emulated_unit.h\"\nNNC_UNIT_BEGIN\n", to);
  const char *at = request->sources->text;
  while ((at = find_kernel(at, to))) at = list_kernel(at, to);
  fprintf(to, "NNC_UNIT_END(\"%s\")\n", request->architecture);
  return fclose(to) ? NULL : text;
}

/* ---- compiling ---- */

static void add_request(Words *words, const Request *request, const char *folder) {
  const char *number = strchr(request->architecture, '_') + 1;
  add(words, "-D__CUDA_ARCH__=%d0", atoi(number));
  if (!strcmp(number, "90a")) add(words, "-D__CUDA_ARCH_FEAT_SM90_ALL");
  add(words, "-I%s", folder);
  add(words, "-ffile-prefix-map=%s/=", folder);
  for (int i = 0; i < request->word_count; i++) add(words, "%s", request->words[i]);
  add(words, "-x");
  add(words, "c++");
  add(words, "%s/%s", folder, file_name(request));
  add(words, "-o");
  add(words, "%s/unit.o", folder);
}

/* The linker itself: a compiler that links starts twice. */
static void add_link(Words *words, const char *folder) {
  static const char *const first[] = {"ld", "-shared", "-z", "defs", "--build-id=none"};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) add(words, "%s", first[i]);
  add(words, "%s/unit.o", folder);
  add(words, "-o");
  add(words, "%s/unit.so", folder);
  add(words, "-lm");
  add(words, "-lc");
}

static void free_words(Words *words) {
  for (int i = 0; i < words->count; i++) free(words->words[i]);
  words->count = 0;
}

/* Whether the command ended with status 0; what it says goes to the file. */
static bool run(Words *words, const char *log_path) {
  posix_spawn_file_actions_t actions;
  pid_t process;
  int status = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  words->words[words->count] = NULL;
  int error = posix_spawnp(&process, words->words[0], &actions, NULL, words->words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) {
    FILE *log = fopen(log_path, "w");
    if (log) {
      fprintf(log, "nvrtc: the emulator cannot run %s: %s\n", words->words[0], strerror(error));
      fclose(log);
    }
    return false;
  }
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0;
}

bool compile_unit(const Request *request, Compiled *to) {
  const char *temporary = getenv("TMPDIR");
  char folder[3000], path[4096];
  snprintf(folder, sizeof folder, "%s/nnc_emulator.XXXXXX", temporary ? temporary : "/tmp");
  if (!mkdtemp(folder)) {
    to->log = strdup("nvrtc: the emulator cannot make a temporary folder\n");
    return false;
  }
  char *text = make_text(request);
  bool is_written = text && write_below(folder, file_name(request), text);
  for (int i = 0; i < request->sources->header_count; i++) {
    is_written &=
        write_below(folder, request->sources->header_names[i], request->sources->headers[i]);
  }
  free(text);
  Words words = {.count = 0};
  add_flags(&words);
  add_request(&words, request, folder);
  snprintf(path, sizeof path, "%s/log", folder);
  bool is_compiled = is_written && run(&words, path);
  free_words(&words);
  add_link(&words, folder);
  is_compiled = is_compiled && run(&words, path);
  size_t size = 0;
  to->log = read_file(path, &size);
  snprintf(path, sizeof path, "%s/unit.so", folder);
  if (is_compiled) to->image = read_file(path, &to->size);
  free_words(&words);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return to->image != NULL;
}

/* FNV-1a. */
static uint64_t hash(uint64_t start, const char *text) {
  for (; *text; text++) start = (start ^ (unsigned char)*text) * 0x100000001b3u;
  return start;
}

int compiler_variant(void) {
  Words words = {.count = 0};
  uint64_t sum = 0xcbf29ce484222325u;
  add_flags(&words);
  for (int i = 0; i < words.count; i++) sum = hash(sum, words.words[i]);
  free_words(&words);
  for (size_t i = 0; i < sizeof shim / sizeof *shim; i++) {
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, EMULATOR_FOLDER "/%s", shim[i]);
    char *text = read_file(path, &size);
    if (text) sum = hash(sum, text);
    free(text);
  }
  return 1000 + (int)(sum % 1000000);
}
