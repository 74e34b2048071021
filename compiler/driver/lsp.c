/* nnc lsp: the language server, for editors. */
#include "driver/commands.h"
#include "server/server.h"

int command_lsp(Arena *arena, const Options *options) { return server_run(NNC_VERSION); }
