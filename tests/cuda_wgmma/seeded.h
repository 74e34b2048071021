/* Mistakes of the pipeline: of each call one that the environment variable NNC_SEEDED names. */
#include <stdlib.h>
#include <string.h>
#include "nnc_cuda_wgmma.h"
#ifdef NNC_WGMMA

static bool nnc_seeded(const char *name) {
  const char *seeded = getenv("NNC_SEEDED");
  return seeded && !strcmp(seeded, name);
}
#define IS_PRODUCER (NNC_THREAD >= 256)

/* no_arrival, no_space: consumers do not wait for boxes, the producer not for an empty stage;
 * parity: consumers wait for the phase before. */
#define nnc_barrier_wait(barrier, parity)                                                          \
  (nnc_seeded(IS_PRODUCER ? "no_space" : "no_arrival")                                             \
       ? (void)0                                                                                   \
       : nnc_barrier_wait(barrier, (parity) ^ (!IS_PRODUCER && nnc_seeded("parity"))))
/* A row less, or more, is expected than arrives. */
#define nnc_barrier_expect(barrier, bytes)                                                         \
  nnc_barrier_expect(barrier, (bytes) + (nnc_seeded("many_bytes") - nnc_seeded("few_bytes")) * 128)
/* Boxes use barriers that were not made known. */
#define nnc_barriers_begun() (nnc_seeded("not_begun") ? (void)0 : nnc_barriers_begun())
#define nnc_wgmma_group() (nnc_seeded("no_group") ? (void)0 : nnc_wgmma_group())
#define nnc_wgmma_fence() (nnc_seeded("no_fence") ? (void)0 : nnc_wgmma_fence())
/* One group more is under way than should be; a stage is empty as soon as its products are begun. */
template <int LEFT> NNC_DEVICE void nnc_wgmma_wait_seeded(NNC_SITE) {
  if (nnc_seeded("early_wait")) nnc_wgmma_wait<LEFT + 1>(file, line);
  else nnc_wgmma_wait<LEFT>(file, line);
}
#define nnc_wgmma_wait nnc_wgmma_wait_seeded
/* The next eight rows are looked for 512 bytes on; the swizzle of 64 bytes. */
#define nnc_wgmma_side(at)                                                                         \
  (nnc_wgmma_side(at) - ((uint64_t)(nnc_seeded("eights") ? 32 : 0) << 32) +                        \
   ((uint64_t)nnc_seeded("swizzle") << 62))
/* More registers than there are. */
template <int COUNT> NNC_DEVICE void nnc_registers_take_seeded(NNC_SITE) {
  if (nnc_seeded("registers")) nnc_registers_take<256>(file, line);
  else nnc_registers_take<COUNT>(file, line);
}
#define nnc_registers_take nnc_registers_take_seeded

#endif
