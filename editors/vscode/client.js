// The wire: JSON-RPC with a language server over its standard input and output. Knows nothing of VS Code.
'use strict';
const { spawn } = require('child_process');

class Client {
  // `onNotification(method, params)`; `onEnd(reason)` once, when the server is gone without being asked to.
  constructor(command, onNotification, onEnd) {
    this.waiting = new Map();
    this.nextId = 1;
    this.input = Buffer.alloc(0);
    this.isStopped = false;
    this.onNotification = onNotification;
    this.onEnd = onEnd;
    this.process = spawn(command, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.on('error', (error) => this.end(error.message));
    this.process.on('exit', (code, signal) => this.end(signal ? `signal ${signal}` : `status ${code}`));
    this.process.stdin.on('error', () => {}); // told by 'exit'
    this.process.stdout.on('data', (piece) => this.take(piece));
  }

  end(reason) {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    if (this.isStopped) return;
    this.isStopped = true;
    this.onEnd(reason);
  }

  send(message) {
    if (this.isStopped) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  notify(method, params) { this.send({ method, params }); }

  // The answer's result. A token of VS Code cancels the request.
  request(method, params, token) {
    if (this.isStopped) return Promise.reject(new Error('the server has ended'));
    const id = this.nextId++;
    this.send({ id, method, params });
    if (token) token.onCancellationRequested(() => this.notify('$/cancelRequest', { id }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  take(piece) {
    this.input = Buffer.concat([this.input, piece]);
    for (;;) {
      const end = this.input.indexOf('\r\n\r\n');
      const length = end < 0 ? null : /Content-Length: *(\d+)/i.exec(this.input.toString('ascii', 0, end));
      if (!length || this.input.length < end + 4 + Number(length[1])) return;
      const body = this.input.subarray(end + 4, end + 4 + Number(length[1]));
      this.input = this.input.subarray(end + 4 + Number(length[1]));
      this.dispatch(JSON.parse(body.toString('utf8')));
    }
  }

  dispatch(message) {
    if (message.method) {
      if (message.id === undefined) this.onNotification(message.method, message.params);
      else this.send({ id: message.id, error: { code: -32601, message: 'the client has no such method' } });
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  async stop() {
    if (this.isStopped) return;
    await this.request('shutdown', null).catch(() => {});
    this.notify('exit', null);
    this.isStopped = true;
    this.process.stdin.end();
  }
}

module.exports = { Client };
