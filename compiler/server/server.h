/* The language server, nnc lsp. */
#ifndef NNC_SERVER_SERVER_H
#define NNC_SERVER_SERVER_H

/* Serves the client on standard input and output until it says `exit` or is gone; the exit status. */
int server_run(const char *version);

#endif
