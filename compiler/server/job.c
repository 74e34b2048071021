/* Work in processes of their own: see job.h. */
#include "server/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sanitizer.h"

enum { MOST_SECONDS = 20, PIECE = 65536 };

/* The sanitizer reserves terabytes of addresses. */
static const rlim_t most_memory = HAS_SANITIZER ? RLIM_INFINITY : (rlim_t)4 << 30;

/* Standard input and output are the client's. */
static void leave_client(void) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0) _exit(3);
}

static void set_limits(void) {
  struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS}, cores = {0, 0};
  struct rlimit memory = {most_memory, most_memory};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &cores);
  setrlimit(RLIMIT_AS, &memory);
}

bool job_start(Job *job, void (*work)(const void *context, int out), const void *context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return false;
  }
  if (pid == 0) {
    close(ends[0]);
    leave_client();
    set_limits();
    work(context, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  *job = (Job){.pid = pid, .pipe = ends[0]};
  return true;
}

void job_answer(int out, json_t *answer) {
  char *text = json_dumps(answer, JSON_COMPACT);
  if (!text) _exit(3);
  size_t length = strlen(text);
  text[length++] = '\n'; /* over the end: there is no line end in it */
  for (ssize_t put, at = 0; (size_t)at < length; at += put) {
    put = write(out, text + at, length - (size_t)at);
    if (put < 0 && errno != EINTR) _exit(3); /* the server has lost its interest */
    if (put < 0) put = 0;
  }
  free(text);
  json_decref(answer);
}

/* NULL, or how the child failed. */
static const char *reap(Job *job) {
  int status = 0;
  while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(job->pipe);
  job->pid = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    return "it takes more than 20 seconds";
  return WIFEXITED(status) ? "it takes too much memory" : "a mistake in nnc; please report it";
}

bool job_read(Job *job, const char **reason) {
  char piece[PIECE];
  ssize_t got = read(job->pipe, piece, sizeof piece);
  if (got < 0 && errno == EINTR) return true;
  if (got > 0) {
    text_add_bytes(&job->answer, piece, (size_t)got);
    return true;
  }
  *reason = reap(job);
  return false;
}

json_t *job_next(Job *job) {
  if (job->answer.length == job->taken) return NULL;
  const char *line = job->answer.data + job->taken;
  const char *end = memchr(line, '\n', job->answer.length - job->taken);
  if (!end) return NULL;
  job->taken += (size_t)(end - line) + 1;
  return json_loadb(line, (size_t)(end - line), JSON_ALLOW_NUL, NULL);
}

void job_stop(Job *job) {
  if (job->pid) {
    kill(job->pid, SIGKILL);
    reap(job);
  }
  text_free(&job->answer);
  *job = (Job){0};
}
