/* The sizes of internal buffers: NNC_BUFFER(usual, small). A build with NNC_SMALL_BUFFERS (CMake's
 * option of that name) has all of them at a few bytes, so that tests meet their ends everywhere. */
#ifndef NNC_BUFFER_H
#define NNC_BUFFER_H

#ifdef NNC_SMALL_BUFFERS
#define NNC_BUFFER(usual, small) (small)
#else
#define NNC_BUFFER(usual, small) (usual)
#endif

#endif
