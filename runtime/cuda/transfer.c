/* Copies in pieces through pinned memory, which the device reads by itself: transfer.h. */
#include "cuda/transfer.h"

#include <string.h>

#include "cuda/failure.h"

enum { PIECE = 4 << 20 };

bool nnc_transfer_open(nnc_transfer *transfer, const nnc_gpu *gpu) {
  *transfer = (nnc_transfer){.gpu = gpu};
  for (int i = 0; i < NNC_TRANSFER_PIECES; i++) {
    transfer->pinned[i] = nnc_gpu_take_pinned(PIECE, "copies to and from the device");
    transfer->copied[i] = nnc_gpu_event(CU_EVENT_NOT_TIMED);
    if (!transfer->pinned[i] || !transfer->copied[i]) return false;
  }
  return true;
}

void nnc_transfer_close(nnc_transfer *transfer) {
  for (int i = 0; i < NNC_TRANSFER_PIECES; i++) {
    if (transfer->copied[i]) (void)nnc_cuda.event_destroy(transfer->copied[i]);
    if (transfer->pinned[i]) (void)nnc_cuda.host_free(transfer->pinned[i]);
  }
  *transfer = (nnc_transfer){0};
}

static int64_t piece_of(int64_t bytes) { return bytes < PIECE ? bytes : PIECE; }

/* An event that was never recorded is not waited for. */
void nnc_transfer_in(nnc_transfer *transfer, CuAddress to, const void *from, int64_t bytes) {
  CuStream stream = transfer->gpu->stream;
  for (int64_t at = 0; at < bytes; at += PIECE) {
    size_t count = (size_t)piece_of(bytes - at);
    int turn = transfer->turn = (transfer->turn + 1) % NNC_TRANSFER_PIECES;
    nnc_cuda_must(nnc_cuda.event_wait(transfer->copied[turn]), "write to the device's memory");
    memcpy(transfer->pinned[turn], (const char *)from + at, count);
    nnc_cuda_must(nnc_cuda.copy_in(to + (CuAddress)at, transfer->pinned[turn], count, stream),
                  "write to the device's memory");
    nnc_cuda_must(nnc_cuda.event_record(transfer->copied[turn], stream),
                  "write to the device's memory");
  }
}

/* Begins to copy the piece `at`. */
static void fetch_piece(nnc_transfer *transfer, CuAddress from, int64_t at, int64_t bytes) {
  int turn = (int)(at / PIECE % NNC_TRANSFER_PIECES);
  CuStream stream = transfer->gpu->stream;
  nnc_cuda_must(nnc_cuda.copy_out(transfer->pinned[turn], from + (CuAddress)at,
                                  (size_t)piece_of(bytes - at), stream),
                "read the device's memory");
  nnc_cuda_must(nnc_cuda.event_record(transfer->copied[turn], stream), "read the device's memory");
}

/* While one piece is taken from its buffer the next arrives in the other. What was written through
 * these buffers before has left them when the stream comes to this. */
void nnc_transfer_out(nnc_transfer *transfer, void *to, CuAddress from, int64_t bytes) {
  if (bytes > 0) fetch_piece(transfer, from, 0, bytes);
  for (int64_t at = 0; at < bytes; at += PIECE) {
    int turn = (int)(at / PIECE % NNC_TRANSFER_PIECES);
    if (at + PIECE < bytes) fetch_piece(transfer, from, at + PIECE, bytes);
    nnc_cuda_must(nnc_cuda.event_wait(transfer->copied[turn]), "read the device's memory");
    memcpy((char *)to + at, transfer->pinned[turn], (size_t)piece_of(bytes - at));
  }
}
