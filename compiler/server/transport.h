/* Messages on standard input and output: a header with the length, then JSON. */
#ifndef NNC_SERVER_TRANSPORT_H
#define NNC_SERVER_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include "support/text.h"

typedef struct Transport {
  Text input;     /* what has been read */
  size_t taken;   /* of it, bytes that were handed out */
  size_t skip;    /* bytes of a message that is too large, which are thrown away as they come */
  bool has_ended; /* nothing more comes, or goes */
} Transport;

typedef enum Received {
  RECEIVED_NOTHING, /* no whole message yet */
  RECEIVED_MESSAGE,
  RECEIVED_NONSENSE /* a header or a body that cannot be read; `reason` says why */
} Received;

/* Reads what there is; waits if there is nothing. */
void transport_read(Transport *transport);
/* The next message of what was read, which the caller owns. */
Received transport_next(Transport *transport, json_t **message, const char **reason);
/* Takes over `message`. */
void transport_send(Transport *transport, json_t *message);

#endif
