/* Copies of this program: see process.h. */
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/message.h"

/* In the copy. */
static void become(int messages, pid_t parent) {
  int nothing = open("/dev/null", O_RDWR);
  bool good = setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent &&
              nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
              dup2(nothing, STDOUT_FILENO) >= 0 && dup2(messages, STDERR_FILENO) >= 0;
  if (!good) _exit(EXIT_FAILURE);
  if (nothing > STDERR_FILENO) close(nothing);
  if (messages > STDERR_FILENO) close(messages);
}

bool nnc_process_start(nnc_process *process, int (*run)(void *context), void *context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    nnc_error_system("make", "a pipe");
    return false;
  }
  fflush(NULL); /* else the copy would write it, too */
  pid_t self = getpid(), id = fork();
  if (id == 0) {
    close(ends[0]);
    become(ends[1], self);
    exit(run(context));
  }
  close(ends[1]);
  if (id > 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
    *process = (nnc_process){(int)id, ends[0]};
    return true;
  }
  nnc_error_system("start", "a run");
  close(ends[0]);
  return false;
}

void nnc_process_poll(int count, const nnc_process *const *processes, double seconds) {
  struct pollfd *ends = calloc((size_t)count + 1, sizeof *ends);
  for (int i = 0; ends && i < count; i++)
    ends[i] = (struct pollfd){.fd = processes[i]->messages, .events = POLLIN};
  (void)poll(ends, ends ? (nfds_t)count : 0, (int)(seconds * 1e3)); /* a signal ends it early */
  free(ends);
}

int nnc_process_read(nnc_process *process, char *bytes, int most) {
  ssize_t count = read(process->messages, bytes, (size_t)most);
  if (count > 0) return (int)count;
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

void nnc_process_interrupt(const nnc_process *process) {
  if (process->id > 0) (void)kill(process->id, SIGTERM); /* it may just have ended */
}

int nnc_process_finish(nnc_process *process) {
  int status = 0;
  while (waitpid(process->id, &status, 0) < 0 && errno == EINTR) continue;
  close(process->messages);
  *process = (nnc_process){0, -1};
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
