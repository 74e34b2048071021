/* The language server: the loop, and what is done with each message.
 *
 * This process keeps the texts of open documents and hands messages on; it never runs the compiler itself. An analysis (analysis.h)
 * and requests that need the compiler run in children (job.h), so that it stays small and nothing in a document can end it.
 * What is asked about a text that is being analysed waits for the facts; a text that changes meanwhile is analysed anew, and
 * changes that have already arrived are taken together. */
#include "server/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/client.h"

enum {
  PARSE_ERROR = -32700,
  INVALID_REQUEST = -32600,
  METHOD_NOT_FOUND = -32601,
  INVALID_PARAMS = -32602,
  INTERNAL_ERROR = -32603,
  NOT_INITIALIZED = -32002,
  REQUEST_CANCELLED = -32800,
  MOST_POLLED = 256
};

/* ---- answers ---- */

static void answer(Server *server, json_t *id, json_t *result) {
  transport_send(&server->transport,
                 json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

static void refuse(Server *server, json_t *id, int code, const char *message) {
  json_t *error = json_pack("{s:i, s:s}", "code", code, "message", message);
  json_t *owner = id ? json_incref(id) : json_null();
  transport_send(&server->transport,
                 json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", owner, "error", error));
}

static void notify(Server *server, const char *method, json_t *params) {
  transport_send(&server->transport, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                                               method, "params", params));
}

/* ---- documents ---- */

Document *server_document(const Server *server, const char *uri) {
  Document *document = server->documents;
  while (document && (!uri || strcmp(document->uri, uri) != 0)) document = document->next;
  return document;
}

bool server_offset(const Server *server, const Document *document, const json_t *params,
                   size_t *offset) {
  Place place;
  if (!document_read_place(json_object_get(params, "position"), &place)) return false;
  Arena *scratch = arena_create();
  *offset = lines_offset(document_lines(scratch, document, server->encoding), place);
  arena_destroy(scratch);
  return true;
}

static const char *uri_of(const json_t *params) {
  return json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
}

static void publish(Server *server, const Document *document, json_t *diagnostics) {
  json_t *params = json_pack("{s:s, s:o}", "uri", document->uri, "diagnostics", diagnostics);
  if (json_is_integer(document->version)) json_object_set(params, "version", document->version);
  notify(server, "textDocument/publishDiagnostics", params);
}

/* ---- analyses ---- */

typedef struct AnalysisJob {
  const Server *server;
  const Document *document;
} AnalysisJob;

static void send_facts(void *context, json_t *facts) { job_answer(*(int *)context, facts); }

static void analyse(const void *context, int out) {
  const AnalysisJob *job = context;
  const Document *document = job->document;
  AnalysisText text = {.path = document->path,
                       .uri = document->uri,
                       .text = document->text.data ? document->text.data : "",
                       .length = document->text.length,
                       .encoding = job->server->encoding,
                       .library = job->server->library,
                       .has_related = job->server->has_related};
  analysis_run(&text, send_facts, &out);
}

static void answer_waiting(Server *server, Document *document);

/* The analysis ended without facts. */
static void report_failure(Server *server, Document *document, const char *reason) {
  char message[200];
  snprintf(message, sizeof message, "nnc cannot check this program: %s", reason);
  json_t *diagnostic = json_pack("{s:o, s:i, s:s, s:s}", "range", json_of_range((Range){0}),
                                 "severity", 1, "source", "nnc", "message", message);
  publish(server, document, json_pack("[o]", diagnostic));
  if (!document->is_known) {
    json_decref(document->facts);
    document->facts = json_object();
    document->is_known = true;
  }
  answer_waiting(server, document);
}

static void begin_analyses(Server *server) {
  for (Document *document = server->documents; document; document = document->next) {
    if (!document->is_unchecked) continue;
    document->is_unchecked = false;
    job_stop(&document->job);
    AnalysisJob job = {server, document};
    if (!job_start(&document->job, analyse, &job))
      report_failure(server, document, "no process can be started");
  }
}

static void take_facts(Server *server, Document *document, json_t *facts) {
  json_t *diagnostics = json_incref(json_object_get(facts, "diagnostics"));
  json_object_del(facts, "diagnostics");
  if (document->facts) json_object_update_missing(facts, document->facts);
  json_decref(document->facts);
  document->facts = facts;
  document->is_known = true;
  answer_waiting(server, document);
  if (document->is_library) {
    json_decref(diagnostics);
    diagnostics = NULL;
  }
  if (diagnostics) publish(server, document, diagnostics);
}

static void read_analysis(Server *server, Document *document) {
  const char *reason = NULL;
  bool goes_on = job_read(&document->job, &reason);
  for (json_t *facts; (facts = job_next(&document->job));) take_facts(server, document, facts);
  if (goes_on) return;
  job_stop(&document->job);
  if (reason) report_failure(server, document, reason);
}

/* ---- requests ---- */

typedef struct Method {
  const char *name;
  Answer *answer;
  bool needs_facts; /* else it is answered by a process of its own */
} Method;

static const Method methods[] = {
    {"textDocument/hover", answer_hover, true},
    {"textDocument/definition", answer_definition, true},
    {"textDocument/references", answer_references, true},
    {"textDocument/documentHighlight", answer_highlight, true},
    {"textDocument/prepareRename", answer_prepare_rename, true},
    {"textDocument/rename", answer_rename, true},
    {"textDocument/documentSymbol", answer_symbols, true},
    {"textDocument/inlayHint", answer_hints, true},
    {"textDocument/codeAction", answer_actions, true},
    {"textDocument/completion", answer_completion, false},
    {"textDocument/signatureHelp", answer_signature, false},
    {"textDocument/formatting", answer_formatting, false},
};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

static const Method *find_method(const char *name) {
  for (int i = 0; i < METHOD_COUNT; i++)
    if (strcmp(methods[i].name, name) == 0) return &methods[i];
  return NULL;
}

static void answer_waiting(Server *server, Document *document) {
  while (document->is_known && document->waiting) {
    Waiting *waiting = document->waiting;
    document->waiting = waiting->next;
    const Method *method =
        find_method(json_string_value(json_object_get(waiting->request, "method")));
    answer(server, json_object_get(waiting->request, "id"),
           method->answer(server, document, json_object_get(waiting->request, "params")));
    json_decref(waiting->request);
    free(waiting);
  }
}

static void add_waiting(Document *document, json_t *request) {
  Waiting *waiting = calloc(1, sizeof *waiting), **last = &document->waiting;
  if (!waiting) abort();
  waiting->request = json_incref(request);
  while (*last) last = &(*last)->next;
  *last = waiting;
}

typedef struct RequestJob {
  const Server *server;
  const Document *document;
  const Method *method;
  const json_t *params;
} RequestJob;

static void work_on_request(const void *context, int out) {
  const RequestJob *job = context;
  json_t *result = job->method->answer(job->server, job->document, job->params);
  job_answer(out, json_pack("{s:o}", "result", result));
}

static void start_request(Server *server, const RequestJob *job, json_t *id) {
  Pending *pending = calloc(1, sizeof *pending);
  if (!pending) abort();
  if (!job_start(&pending->job, work_on_request, job)) {
    free(pending);
    refuse(server, id, INTERNAL_ERROR, "no process can be started");
    return;
  }
  pending->id = json_incref(id);
  pending->next = server->pending;
  server->pending = pending;
}

static void take_request(Server *server, const Method *method, json_t *request) {
  json_t *id = json_object_get(request, "id"), *params = json_object_get(request, "params");
  Document *document = server_document(server, uri_of(params));
  if (!document) {
    refuse(server, id, INVALID_PARAMS, "the document is not open");
  } else if (!method->needs_facts) {
    start_request(server, &(RequestJob){server, document, method, params}, id);
  } else {
    add_waiting(document, request);
    answer_waiting(server, document);
  }
}

/* False at the end of the process. */
static bool read_pending(Server *server, Pending *pending) {
  const char *reason = NULL;
  bool goes_on = job_read(&pending->job, &reason);
  json_t *line = job_next(&pending->job);
  if (line && !pending->is_answered) {
    answer(server, pending->id, json_incref(json_object_get(line, "result")));
    pending->is_answered = true;
  }
  json_decref(line);
  if (goes_on) return true;
  if (!pending->is_answered)
    refuse(server, pending->id, INTERNAL_ERROR, reason ? reason : "no answer");
  return false;
}

static void drop_pending(Server *server, Pending *pending) {
  Pending **at = &server->pending;
  while (*at != pending) at = &(*at)->next;
  *at = pending->next;
  job_stop(&pending->job);
  json_decref(pending->id);
  free(pending);
}

/* A request that is not answered yet is answered as cancelled. */
static void cancel(Server *server, const json_t *params) {
  json_t *id = json_object_get(params, "id");
  for (Pending *pending = server->pending; pending && id; pending = pending->next) {
    if (!json_equal(pending->id, id) || pending->is_answered) continue;
    refuse(server, id, REQUEST_CANCELLED, "cancelled");
    drop_pending(server, pending);
    return;
  }
  for (Document *document = server->documents; document && id; document = document->next)
    for (Waiting **at = &document->waiting; *at; at = &(*at)->next) {
      Waiting *waiting = *at;
      if (!json_equal(json_object_get(waiting->request, "id"), id)) continue;
      refuse(server, id, REQUEST_CANCELLED, "cancelled");
      *at = waiting->next;
      json_decref(waiting->request);
      free(waiting);
      return;
    }
}

/* ---- notifications ---- */

static void close_document(Server *server, Document *document) {
  while (document->waiting) { /* of a text that is gone nothing is known */
    document->is_known = true;
    json_decref(document->facts);
    document->facts = json_object();
    answer_waiting(server, document);
  }
  Document **at = &server->documents;
  while (*at != document) at = &(*at)->next;
  *at = document->next;
  document_destroy(document);
}

static void open_document(Server *server, const json_t *params) {
  const json_t *item = json_object_get(params, "textDocument");
  const char *uri = json_string_value(json_object_get(item, "uri"));
  json_t *text = json_object_get(item, "text");
  if (!uri || !json_is_string(text)) return;
  Document *document = server_document(server, uri);
  if (document) close_document(server, document);
  document = document_create(uri, server->library);
  document->version = json_incref(json_object_get(item, "version"));
  document_set_text(document, json_string_value(text), json_string_length(text));
  document->next = server->documents;
  server->documents = document;
}

static void change_document(Server *server, Document *document, const json_t *params) {
  size_t i;
  json_t *change;
  json_t *version = json_object_get(json_object_get(params, "textDocument"), "version");
  json_decref(document->version);
  document->version = json_incref(version);
  json_array_foreach(json_object_get(params, "contentChanges"), i, change)
      document_change(document, server->encoding, change);
}

static void take_notification(Server *server, const char *method, const json_t *params) {
  Document *document = server_document(server, uri_of(params));
  if (strcmp(method, "textDocument/didOpen") == 0) open_document(server, params);
  else if (strcmp(method, "$/cancelRequest") == 0) cancel(server, params);
  else if (!document) return;
  else if (strcmp(method, "textDocument/didChange") == 0) change_document(server, document, params);
  else if (strcmp(method, "textDocument/didClose") == 0) {
    publish(server, document, json_array());
    close_document(server, document);
  }
}

/* ---- messages ---- */

static void take_initialize(Server *server, json_t *id, const json_t *params) {
  if (server->is_initialized) {
    refuse(server, id, INVALID_REQUEST, "the server is initialized already");
    return;
  }
  server->is_initialized = true;
  answer(server, id, server_initialize(server, params));
}

static void take_call(Server *server, const char *name, json_t *request) {
  json_t *id = json_object_get(request, "id");
  const Method *method = find_method(name);
  if (server->is_shut_down) refuse(server, id, INVALID_REQUEST, "the server is shut down");
  else if (strcmp(name, "initialize") == 0)
    take_initialize(server, id, json_object_get(request, "params"));
  else if (!server->is_initialized) refuse(server, id, NOT_INITIALIZED, "initialize comes first");
  else if (strcmp(name, "shutdown") == 0) {
    server->is_shut_down = true;
    answer(server, id, json_null());
  } else if (method) take_request(server, method, request);
  else refuse(server, id, METHOD_NOT_FOUND, "the server has no such method");
}

static void take_message(Server *server, json_t *message) {
  const char *method = json_string_value(json_object_get(message, "method"));
  json_t *id = json_object_get(message, "id");
  if (!method) {
    bool is_answer = json_is_object(message) && id; /* to a question that the server never asks */
    if (!is_answer) refuse(server, NULL, INVALID_REQUEST, "neither a request nor a notification");
  } else if (id) {
    take_call(server, method, message);
  } else if (strcmp(method, "exit") == 0) {
    server->is_over = true;
  } else if (server->is_initialized && !server->is_shut_down) {
    take_notification(server, method, json_object_get(message, "params"));
  }
}

static void take_messages(Server *server) {
  const char *reason;
  json_t *message;
  for (Received received; !server->is_over;) {
    received = transport_next(&server->transport, &message, &reason);
    if (received == RECEIVED_NOTHING) return;
    if (received == RECEIVED_NONSENSE) {
      refuse(server, NULL, PARSE_ERROR, reason);
      continue;
    }
    take_message(server, message);
    json_decref(message);
  }
}

/* ---- the loop ---- */

/* Waits until the client or a child has something to say, and reads it. */
static void wait_and_read(Server *server) {
  struct pollfd polled[MOST_POLLED] = {{.fd = STDIN_FILENO, .events = POLLIN}};
  Document *documents[MOST_POLLED] = {NULL};
  Pending *pendings[MOST_POLLED] = {NULL};
  int count = 1;
  for (Document *at = server->documents; at && count < MOST_POLLED / 2; at = at->next) {
    if (!at->job.pid) continue;
    documents[count] = at;
    polled[count++] = (struct pollfd){.fd = at->job.pipe, .events = POLLIN};
  }
  for (Pending *at = server->pending; at && count < MOST_POLLED; at = at->next) {
    pendings[count] = at;
    polled[count++] = (struct pollfd){.fd = at->job.pipe, .events = POLLIN};
  }
  if (poll(polled, (nfds_t)count, -1) < 0) {
    if (errno != EINTR) server->is_over = true;
    return;
  }
  for (int i = 1; i < count; i++) {
    if (!polled[i].revents) continue;
    if (documents[i]) read_analysis(server, documents[i]);
    else if (!read_pending(server, pendings[i])) drop_pending(server, pendings[i]);
  }
  if (polled[0].revents) transport_read(&server->transport);
}

int server_run(const char *version) {
  Server server = {.arena = arena_create(), .version = version};
  signal(SIGPIPE, SIG_IGN); /* a client that is gone is noticed by what write() says */
  server.library = library_create(server.arena);
  while (!server.is_over && !server.transport.has_ended) {
    take_messages(&server);
    if (server.is_over) break;
    begin_analyses(&server);
    wait_and_read(&server);
  }
  while (server.documents) {
    Document *document = server.documents;
    server.documents = document->next;
    document_destroy(document);
  }
  while (server.pending) drop_pending(&server, server.pending);
  text_free(&server.transport.input);
  arena_destroy(server.arena);
  return server.is_shut_down ? 0 : 1;
}
