/* Running other programs: see process.h. */
#include "backend/common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/files.h"

extern char **environ;

/* ---- arguments ---- */

void process_add(Arena *arena, Arguments *arguments, ...) {
  va_list words;
  va_start(words, arguments);
  for (const char *word; (word = va_arg(words, const char *)) != NULL;)
    vec_push(arena, arguments, word);
  va_end(words);
}

void process_add_words(Arena *arena, Arguments *arguments, const char *text) {
  static const char blanks[] = " \t\n";
  for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
    size_t length = strcspn(text, blanks);
    vec_push(arena, arguments, arena_strndup(arena, text, length));
    text += length;
  }
}

/* What stands in single quotes would break the line, or end a comment of C around it. */
static bool needs_escapes(const char *word) {
  for (const char *c = word; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F) return true;
  return strstr(word, "*/") != NULL || strstr(word, "/*") != NULL;
}

/* $'...', with escapes as in C. */
static void add_escaped(Text *text, const char *word) {
  text_add(text, "$'");
  for (const char *c = word; *c; c++) {
    bool is_slash = *c == '/' && ((c > word && c[-1] == '*') || c[1] == '*');
    if (*c == '\'' || *c == '\\') text_printf(text, "\\%c", *c);
    else if (is_slash || (unsigned char)*c < 0x20 || *c == 0x7F)
      text_printf(text, "\\%03o", (unsigned char)*c);
    else text_add_char(text, *c);
  }
  text_add_char(text, '\'');
}

static void add_for_shell(Text *text, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (*word && word[strspn(word, plain)] == 0) {
    text_add(text, word);
    return;
  }
  if (needs_escapes(word)) {
    add_escaped(text, word);
    return;
  }
  text_add_char(text, '\'');
  for (; *word; word++) {
    if (*word == '\'') text_add(text, "'\\''");
    else text_add_char(text, *word);
  }
  text_add_char(text, '\'');
}

const char *process_command_line(Arena *arena, const Arguments *arguments) {
  Text text = {0};
  for (int i = 0; i < arguments->count; i++) {
    if (i > 0) text_add_char(&text, ' ');
    add_for_shell(&text, arguments->items[i]);
  }
  return text_take(&text, arena);
}

static char **argument_vector(Arena *arena, const Arguments *arguments) {
  char **vector = ARENA_ARRAY(arena, char *, arguments->count + 1);
  for (int i = 0; i < arguments->count; i++) vector[i] = arena_strdup(arena, arguments->items[i]);
  return vector;
}

/* ---- one ---- */

static int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return exit_status(status);
}

/* A program whose output is read. */
typedef struct Reading {
  pid_t child;
  int failure, end; /* a number of errno; where its output is read, unless it failed */
} Reading;

static Reading start_reading(Arena *arena, const Arguments *arguments) {
  Reading reading = {0};
  posix_spawn_file_actions_t actions;
  int ends[2];
  reading.failure = posix_spawn_file_actions_init(&actions);
  if (reading.failure) return reading;
  if (pipe2(ends, O_CLOEXEC) < 0) {
    reading.failure = errno;
    posix_spawn_file_actions_destroy(&actions);
    return reading;
  }
  reading.failure = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!reading.failure)
    reading.failure =
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (!reading.failure)
    reading.failure = posix_spawnp(&reading.child, arguments->items[0], &actions, NULL,
                                   argument_vector(arena, arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  reading.end = ends[0];
  if (reading.failure) close(ends[0]);
  return reading;
}

static int end_reading(const Reading *reading, Text *output) {
  if (reading->failure == 0) {
    (void)file_read_rest(reading->end, output, SIZE_MAX); /* what was read counts */
    close(reading->end);
  }
  errno = reading->failure;
  return reading->failure ? -1 : wait_for(reading->child);
}

int process_read(Arena *arena, const Arguments *arguments, Text *output) {
  Reading reading = start_reading(arena, arguments);
  return end_reading(&reading, output);
}

void process_read_all(Arena *arena, int count, const Arguments *arguments, Text *outputs,
                      int *statuses) {
  Reading *readings = ARENA_ARRAY(arena, Reading, count + 1);
  for (int i = 0; i < count; i++) readings[i] = start_reading(arena, &arguments[i]);
  for (int i = 0; i < count; i++) statuses[i] = end_reading(&readings[i], &outputs[i]);
}

/* ---- several ---- */

static int start(Arena *arena, Job *job) {
  posix_spawn_file_actions_t actions;
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure) return failure;
  failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, job->input, O_RDONLY, 0);
  if (!failure)
    failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, job->output, flags, 0600);
  if (!failure)
    failure = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, job->log, flags, 0600);
  if (!failure)
    failure = posix_spawnp(&job->child, job->arguments.items[0], &actions, NULL,
                           argument_vector(arena, &job->arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

enum { NOT_STARTED = -2, RUNNING = -3 };

static Job *heaviest(int count, Job *jobs) {
  Job *best = NULL;
  for (int i = 0; i < count; i++)
    if (jobs[i].status == NOT_STARTED && (best == NULL || jobs[i].weight > best->weight))
      best = &jobs[i];
  return best;
}

/* Waits for the end of one; its status is not 0 when waiting failed. */
static Job *wait_for_any(int count, Job *jobs) {
  for (;;) {
    int status = 0;
    pid_t child = waitpid(-1, &status, 0);
    if (child < 0 && errno == EINTR) continue;
    for (int i = 0; i < count; i++) {
      if (jobs[i].status != RUNNING || (child >= 0 && jobs[i].child != child)) continue;
      jobs[i].error = child < 0 ? errno : 0;
      jobs[i].status = child < 0 ? -1 : exit_status(status);
      return &jobs[i];
    }
  }
}

/* What process_stop_jobs ends. */
static Job *volatile live_jobs;
static volatile int live_count;

void process_stop_jobs(void) {
  for (int i = 0; i < live_count; i++)
    if (live_jobs[i].status == RUNNING) kill(live_jobs[i].child, SIGTERM);
  for (int i = 0; i < live_count; i++)
    if (live_jobs[i].status == RUNNING) waitpid(live_jobs[i].child, NULL, 0);
}

bool process_run_jobs(Arena *arena, int count, Job *jobs, int parallel) {
  bool good = true;
  int running = 0;
  for (int i = 0; i < count; i++) jobs[i].status = NOT_STARTED;
  live_jobs = jobs;
  live_count = count;
  for (;;) {
    Job *next = good && running < parallel ? heaviest(count, jobs) : NULL;
    if (next == NULL && running == 0) break;
    if (next != NULL) {
      next->error = start(arena, next);
      next->status = next->error ? -1 : RUNNING;
      running += next->error == 0;
      good = good && next->error == 0;
    } else {
      running--;
      good = wait_for_any(count, jobs)->status == 0 && good;
    }
  }
  live_count = 0;
  return good;
}
