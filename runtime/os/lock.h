/* Files and folders that one process at a time writes to. */
#ifndef NNC_LOCK_H
#define NNC_LOCK_H

#include <stdbool.h>

/* Locks the open file or folder until it is closed; false: another process has locked it. */
bool nnc_lock_try(int descriptor);

/* Locks the folder until nnc_folder_unlock or the end of the process. A file system that cannot lock
 * is trusted. *lock: what unlock takes, -1 without; false after a message. */
bool nnc_folder_lock(const char *folder, int *lock);
void nnc_folder_unlock(int lock); /* -1 is fine */

#endif
