/* The handler only sets a flag and says so; write() and _exit() are all it may call. */
#include "os/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "os/exit.h"
#include "os/message.h"

static volatile sig_atomic_t request_count;

static void on_signal(int signal) {
  static const char text[] =
      "\ninterrupted: saving after this step; a second signal ends at once\n";
  /* A terminal that closes may send SIGHUP more than once: that is not a wish for haste. */
  if (request_count > 0 && signal == SIGHUP) return;
  if (request_count > 0) _exit(NNC_EXIT_INTERRUPTED);
  request_count = 1;
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written; /* nothing can be done about it here */
}

/* nohup has SIGHUP ignored: then it stays so. */
static bool install_hangup(const struct sigaction *action) {
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) != 0) return false;
  return before.sa_handler == SIG_IGN || sigaction(SIGHUP, action, NULL) == 0;
}

/* When the terminal closes, what reads the messages (`| tee`) may end first: a message that nobody
 * reads must not end the run before it is saved. */
bool nnc_stop_install(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&action.sa_mask);
  sigemptyset(&ignore.sa_mask);
  if (sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0 &&
      install_hangup(&action) && sigaction(SIGPIPE, &ignore, NULL) == 0)
    return true;
  nnc_error_system("handle", "signals");
  return false;
}

void nnc_stop_never_for_size(void) {
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR) nnc_error_system("ignore", "SIGXFSZ");
}

bool nnc_stop_requested(void) { return request_count > 0; }
