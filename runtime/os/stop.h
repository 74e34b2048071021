/* Interrupts: the first SIGINT, SIGTERM or SIGHUP asks the loop to stop, the second ends the program at
 * once. */
#ifndef NNC_STOP_H
#define NNC_STOP_H

#include <stdbool.h>

bool nnc_stop_install(void); /* false after a message */
bool nnc_stop_requested(void);

/* A file size limit shows as a failed write, which is told and survived, instead of ending the program. */
void nnc_stop_never_for_size(void);

#endif
