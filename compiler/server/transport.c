/* Messages on standard input and output: see transport.h.
 *
 * Nothing that a client sends ends the server: a header without a usable length is skipped up to the empty line after
 * it, and the body of a message that is too large is thrown away piece by piece. */
#include "server/transport.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LARGEST_MESSAGE = 128 << 20, LONGEST_HEADER = 4096, PIECE = 65536 };

void transport_read(Transport *transport) {
  char piece[PIECE];
  ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) {
    transport->has_ended = true;
    return;
  }
  size_t count = (size_t)got, skipped = transport->skip < count ? transport->skip : count;
  transport->skip -= skipped;
  text_add_bytes(&transport->input, piece + skipped, count - skipped);
}

/* Throws away what was handed out, once that is worth it. */
static void drop_taken(Transport *transport) {
  Text *input = &transport->input;
  if (transport->taken == input->length && input->capacity > LARGEST_MESSAGE / 64) {
    text_free(input); /* a large message must not be kept for ever */
    transport->taken = 0;
  } else if (transport->taken > PIECE || transport->taken == input->length) {
    input->length -= transport->taken;
    memmove(input->data, input->data + transport->taken, input->length);
    transport->taken = 0;
  }
}

/* The length that a header gives; -1: none that can be used. */
static long long header_length(const char *header, size_t length) {
  static const char field[] = "Content-Length:";
  for (const char *line = header, *end = header + length; line < end;) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    if (strncasecmp(line, field, strlen(field)) == 0) {
      const char *digits = line + strlen(field);
      while (*digits == ' ' || *digits == '\t') digits++;
      size_t count = strspn(digits, "0123456789");
      if (count == 0 || count > 18 || !isspace((unsigned char)digits[count])) return -1;
      return strtoll(digits, NULL, 10);
    }
    line = newline ? newline + 1 : end;
  }
  return -1;
}

/* Where the body begins after the header at `text`; 0: the header has not ended yet. */
static size_t find_body(const char *text, size_t length) {
  for (size_t i = 0; i + 1 < length; i++) {
    if (text[i] != '\n') continue;
    if (text[i + 1] == '\n') return i + 2;
    if (i + 2 < length && text[i + 1] == '\r' && text[i + 2] == '\n') return i + 3;
  }
  return 0;
}

static Received refuse(Transport *transport, size_t bytes, const char **reason, const char *why) {
  size_t here = transport->input.length - transport->taken;
  transport->skip = bytes > here ? bytes - here : 0;
  transport->taken += bytes > here ? here : bytes;
  *reason = why;
  return RECEIVED_NONSENSE;
}

Received transport_next(Transport *transport, json_t **message, const char **reason) {
  if (transport->input.length == 0) return RECEIVED_NOTHING;
  drop_taken(transport);
  if (transport->input.length == 0) return RECEIVED_NOTHING;
  const char *text = transport->input.data + transport->taken;
  size_t length = transport->input.length - transport->taken;
  size_t body = find_body(text, length < LONGEST_HEADER ? length : LONGEST_HEADER);
  if (body == 0 && length < LONGEST_HEADER) return RECEIVED_NOTHING;
  if (body == 0) return refuse(transport, length, reason, "a header without an end");
  long long size = header_length(text, body);
  if (size < 0) return refuse(transport, body, reason, "a header without a Content-Length");
  if (size > LARGEST_MESSAGE)
    return refuse(transport, body + (size_t)size, reason, "a message larger than 128 MiB");
  if (length - body < (size_t)size) return RECEIVED_NOTHING;
  *message = json_loadb(text + body, (size_t)size, JSON_ALLOW_NUL, NULL);
  transport->taken += body + (size_t)size;
  if (*message) return RECEIVED_MESSAGE;
  *reason = "a message that is no JSON";
  return RECEIVED_NONSENSE;
}

static bool write_all(const char *bytes, size_t count) {
  for (ssize_t put; count > 0; bytes += put, count -= (size_t)put) {
    put = write(STDOUT_FILENO, bytes, count);
    if (put < 0 && errno != EINTR) return false;
    if (put < 0) put = 0;
  }
  return true;
}

void transport_send(Transport *transport, json_t *message) {
  char *body = json_dumps(message, JSON_COMPACT);
  json_decref(message);
  if (!body) return;
  size_t length = strlen(body);
  char header[64];
  int header_size = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length);
  if (!write_all(header, (size_t)header_size) || !write_all(body, length))
    transport->has_ended = true;
  free(body);
}
