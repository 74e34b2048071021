/* What each function of the stand-in for the driver begins with. */
#ifndef DRIVER_H
#define DRIVER_H

#include "cuda_types.h"

#define EXPORT __attribute__((visibility("default")))

/* One call at a time. */
void driver_lock(void);
void driver_unlock(const int *unused);
/* An error with which the call of that name ends at once: an injected or a lasting one, or no
 * context. */
int driver_refuse(const char *name, int needs);
void driver_keep_error(int error);

enum { NEEDS_NOTHING, NEEDS_DRIVER, NEEDS_CONTEXT };

#define ENTER(needs)                                                                               \
  driver_lock();                                                                                   \
  int lock __attribute__((cleanup(driver_unlock), unused)) = 0;                                    \
  int refused = driver_refuse(__func__, needs);                                                    \
  if (refused) return refused
#define REQUIRE(condition, error)                                                                  \
  if (!(condition)) return CUDA_##error

int driver_device(void); /* 90 for 9.0 */
int driver_shared_of_block(void);

#endif
