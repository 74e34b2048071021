// The extension: documents go to `nnc lsp`, and what it answers becomes objects of VS Code. Without other packages.
'use strict';
const vscode = require('vscode');
const { Client } = require('./client.js');

const LANGUAGE = 'nnc';
let client = null;
let diagnostics = null;
let registered = [];            // the providers, while there is a server
let turn = Promise.resolve();   // starts and stops, one after another

// ---- the protocol's objects and VS Code's ----

const toPosition = (place) => new vscode.Position(place.line, place.character);
const toRange = (range) => new vscode.Range(toPosition(range.start), toPosition(range.end));
const toLocation = (location) => new vscode.Location(vscode.Uri.parse(location.uri), toRange(location.range));
const fromPosition = (position) => ({ line: position.line, character: position.character });
const fromRange = (range) => ({ start: fromPosition(range.start), end: fromPosition(range.end) });
const identify = (document) => ({ uri: document.uri.toString() });
const toEdits = (edits) => (edits || []).map((edit) => new vscode.TextEdit(toRange(edit.range), edit.newText));

function toWorkspaceEdit(edit) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(edit.changes)) result.set(vscode.Uri.parse(uri), toEdits(edits));
  return result;
}

function toDiagnostic(from) {
  const result = new vscode.Diagnostic(toRange(from.range), from.message, from.severity - 1);
  result.source = from.source;
  result.tags = from.tags;
  result.relatedInformation = (from.relatedInformation || []).map(
    (related) => new vscode.DiagnosticRelatedInformation(toLocation(related.location), related.message));
  result.fromServer = from;
  return result;
}

function toCompletion(from) {
  const result = new vscode.CompletionItem(from.label, from.kind - 1);
  result.detail = from.detail;
  result.sortText = from.sortText;
  result.filterText = from.filterText;
  result.insertText = from.insertText;
  if (from.documentation) result.documentation = from.documentation;
  return result;
}

function toSignature(from) {
  const result = new vscode.SignatureHelp();
  result.activeSignature = from.activeSignature;
  result.activeParameter = from.activeParameter;
  result.signatures = from.signatures.map((signature) => {
    const made = new vscode.SignatureInformation(signature.label);
    made.parameters = signature.parameters.map((parameter) => new vscode.ParameterInformation(parameter.label));
    return made;
  });
  return result;
}

const toSymbol = (from) => new vscode.DocumentSymbol(from.name, from.detail || '', from.kind - 1, toRange(from.range),
  toRange(from.selectionRange));

function toHint(from) {
  const result = new vscode.InlayHint(toPosition(from.position), from.label, from.kind);
  result.paddingLeft = from.paddingLeft;
  return result;
}

function toAction(from, found) {
  const result = new vscode.CodeAction(from.title, vscode.CodeActionKind.QuickFix);
  result.edit = toWorkspaceEdit(from.edit);
  result.diagnostics = found;
  return result;
}

// ---- requests ----

// What the server answers about a document, made by `make`; null where it answers nothing.
async function ask(method, document, more, token, make) {
  if (!client) return null;
  try {
    const result = await client.request(`textDocument/${method}`, { textDocument: identify(document), ...more }, token);
    return result === null || result === undefined ? null : make(result);
  } catch (error) {
    return null; // cancelled, or the server has ended, which is told elsewhere
  }
}

const at = (position) => ({ position: fromPosition(position) });
const each = (make) => (list) => list.map(make);

const providers = {
  provideHover: (document, position, token) => ask('hover', document, at(position), token,
    (hover) => new vscode.Hover(new vscode.MarkdownString(hover.contents.value), hover.range && toRange(hover.range))),
  provideDefinition: (document, position, token) => ask('definition', document, at(position), token, toLocation),
  provideReferences: (document, position, context, token) => ask('references', document,
    { ...at(position), context: { includeDeclaration: context.includeDeclaration } }, token, each(toLocation)),
  provideDocumentHighlights: (document, position, token) => ask('documentHighlight', document, at(position), token,
    each((found) => new vscode.DocumentHighlight(toRange(found.range), found.kind - 1))),
  provideDocumentSymbols: (document, token) => ask('documentSymbol', document, {}, token, each(toSymbol)),
  provideCompletionItems: (document, position, token) => ask('completion', document, at(position), token, each(toCompletion)),
  provideSignatureHelp: (document, position, token) => ask('signatureHelp', document, at(position), token, toSignature),
  provideDocumentFormattingEdits: (document, options, token) => ask('formatting', document, { options }, token, toEdits),
  provideInlayHints: (document, range, token) => ask('inlayHint', document, { range: fromRange(range) }, token, each(toHint)),
  provideRenameEdits: (document, position, newName, token) => ask('rename', document, { ...at(position), newName }, token,
    toWorkspaceEdit),
  async prepareRename(document, position, token) {
    const found = await ask('prepareRename', document, at(position), token, (name) => name);
    if (!found) throw new Error('only names of the program can be renamed');
    return { range: toRange(found.range), placeholder: found.placeholder };
  },
  provideCodeActions(document, range, context, token) {
    const own = context.diagnostics.filter((diagnostic) => diagnostic.fromServer);
    return ask('codeAction', document, {
      range: fromRange(range),
      context: { diagnostics: own.map((diagnostic) => diagnostic.fromServer) },
    }, token, each((action) => toAction(action, own)));
  },
};

function register() {
  const { languages } = vscode;
  return [
    languages.registerHoverProvider(LANGUAGE, providers),
    languages.registerDefinitionProvider(LANGUAGE, providers),
    languages.registerReferenceProvider(LANGUAGE, providers),
    languages.registerDocumentHighlightProvider(LANGUAGE, providers),
    languages.registerDocumentSymbolProvider(LANGUAGE, providers),
    languages.registerCompletionItemProvider(LANGUAGE, providers, '.', '|', '('),
    languages.registerSignatureHelpProvider(LANGUAGE, providers, '(', ','),
    languages.registerDocumentFormattingEditProvider(LANGUAGE, providers),
    languages.registerInlayHintsProvider(LANGUAGE, providers),
    languages.registerRenameProvider(LANGUAGE, providers),
    languages.registerCodeActionsProvider(LANGUAGE, providers),
  ];
}

// ---- documents ----

const isOurs = (document) => document.languageId === LANGUAGE;

function open(document) {
  if (!client || !isOurs(document)) return;
  client.notify('textDocument/didOpen', {
    textDocument: { ...identify(document), languageId: LANGUAGE, version: document.version, text: document.getText() },
  });
}

function change(event) {
  if (!client || !isOurs(event.document) || event.contentChanges.length === 0) return;
  client.notify('textDocument/didChange', {
    textDocument: { ...identify(event.document), version: event.document.version },
    contentChanges: event.contentChanges.map((part) => ({ range: fromRange(part.range), text: part.text })),
  });
}

function close(document) {
  if (client && isOurs(document)) client.notify('textDocument/didClose', { textDocument: identify(document) });
}

// ---- the server ----

function takeNotification(method, params) {
  if (method !== 'textDocument/publishDiagnostics') return;
  diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
}

function forget() {
  client = null;
  registered.splice(0).forEach((provider) => provider.dispose());
  if (diagnostics) diagnostics.clear();
}

// Providers are registered when the server can answer: VS Code asks each of them at once, and again only after an edit.
async function start() {
  const command = String(vscode.workspace.getConfiguration('nnc').get('path') || 'nnc');
  const started = new Client(command, takeNotification, (reason) => {
    if (client === started) forget();
    vscode.window.showErrorMessage(`nnc: "${command} lsp" has ended: ${reason}. The setting nnc.path says where nnc is.`);
  });
  try {
    await started.request('initialize', {
      processId: process.pid,
      rootUri: null,
      capabilities: {
        general: { positionEncodings: ['utf-16'] },
        textDocument: {
          hover: { contentFormat: ['markdown', 'plaintext'] },
          publishDiagnostics: { relatedInformation: true },
        },
      },
    });
  } catch (error) {
    return; // told by the client's end
  }
  started.notify('initialized', {});
  client = started;
  vscode.workspace.textDocuments.forEach(open);
  registered = register();
}

async function stop() {
  const stopped = client;
  forget();
  if (stopped) await stopped.stop();
}

const inTurn = (...steps) => (turn = steps.reduce((before, step) => before.then(step), turn.catch(() => {})));
const restart = () => inTurn(stop, start);

async function activate(context) {
  diagnostics = vscode.languages.createDiagnosticCollection(LANGUAGE);
  context.subscriptions.push(
    diagnostics,
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidChangeTextDocument(change),
    vscode.workspace.onDidCloseTextDocument(close),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('nnc.path') && restart()),
    vscode.commands.registerCommand('nnc.restart', restart));
  await restart();
}

module.exports = { activate, deactivate: () => inTurn(stop) };
