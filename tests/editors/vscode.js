// The extension for VS Code, run by node with a stand-in for the module `vscode` and a server behind it.
//   node vscode.js FOLDER NNC       FOLDER has the unpacked extension
'use strict';
const Module = require('module');
const path = require('path');
const [folder, nnc] = process.argv.slice(2);
let passed = 0;
let failed = 0;
const check = (name, good, detail) => {
  if (good) passed += 1;
  else { failed += 1; console.log(`FAIL ${name}: ${JSON.stringify(detail)}`); }
};

// ---- the stand-in ----

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } }
const record = (...names) => class { constructor(...values) { names.forEach((name, i) => { this[name] = values[i]; }); } };
class Uri {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
  static parse(text) { return new Uri(text); }
}
class WorkspaceEdit { constructor() { this.entries = []; } set(uri, edits) { this.entries.push([uri.toString(), edits]); } }
const handlers = { open: [], change: [], close: [], settings: [] };
const registered = {};
let asked = null; // the hints that VS Code asks for when a provider is registered; it asks again only after an edit
const commands = {};
const shown = new Map();
const errors = [];
const documents = [];
let heard = () => {};
const languages = {
  createDiagnosticCollection: () => ({ set: (uri, list) => { shown.set(uri.toString(), list); heard(uri.toString()); },
    clear: () => shown.clear(), dispose: () => {} }),
};
for (const name of ['Hover', 'Definition', 'Reference', 'DocumentHighlight', 'DocumentSymbol', 'CompletionItem', 'SignatureHelp',
  'DocumentFormattingEdit', 'InlayHints', 'Rename', 'CodeActions']) {
  languages[`register${name}Provider`] = (language, provider) => {
    check(`${name} is for nnc`, language === 'nnc', language);
    registered[name] = provider;
    if (name === 'InlayHints' && documents.length) asked = provider.provideInlayHints(documents[0], new Range(...ENDS), never);
    return { dispose() { delete registered[name]; } };
  };
}
const listen = (list) => (handler) => { list.push(handler); return { dispose() {} }; };
const vscode = {
  Position, Range, Uri, WorkspaceEdit, languages,
  Location: record('uri', 'range'), TextEdit: record('range', 'newText'), Diagnostic: record('range', 'message', 'severity'),
  DiagnosticRelatedInformation: record('location', 'message'), CompletionItem: record('label', 'kind'),
  SignatureHelp: record(), SignatureInformation: record('label'), ParameterInformation: record('label'),
  DocumentSymbol: record('name', 'detail', 'kind', 'range', 'selectionRange'), InlayHint: record('position', 'label', 'kind'),
  CodeAction: record('title', 'kind'), CodeActionKind: { QuickFix: 'quickfix' }, Hover: record('contents', 'range'),
  MarkdownString: record('value'), DocumentHighlight: record('range', 'kind'),
  workspace: { textDocuments: documents, getConfiguration: () => ({ get: () => nnc }), onDidOpenTextDocument: listen(handlers.open),
    onDidChangeTextDocument: listen(handlers.change), onDidCloseTextDocument: listen(handlers.close),
    onDidChangeConfiguration: listen(handlers.settings) },
  window: { showErrorMessage: (text) => errors.push(text) },
  commands: { registerCommand: (name, run) => { commands[name] = run; return { dispose() {} }; } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

// ---- the checks ----

const TEXT = `const batch = 2
data train { x = npy("x.npy") }
input x : f32[batch, 3]
h = linear(x, 4)
loss = mean(h ^ 2)
train { minimize = loss, optimizer = sgd, epochs = 1 }
`;
const document = (text, version) => ({ languageId: 'nnc', uri: new Uri('file:///try.net'), version, getText: () => text });
const ENDS = [new Position(0, 0), new Position(6, 0)];
const diagnosed = () => new Promise((resolve) => { heard = resolve; });
const never = { onCancellationRequested() {} };

async function main() {
  const extension = require(path.join(folder, 'extension.js'));
  const context = { subscriptions: [] };
  const whole = document(TEXT, 1);
  documents.push(whole);
  let told = diagnosed();
  await extension.activate(context);
  check('what is to be disposed of is handed over', context.subscriptions.length === 6, context.subscriptions.length);
  check('providers answer from the first', asked && (await asked || []).length > 0, asked);
  await told;
  check('no diagnostics', shown.get('file:///try.net').length === 0, shown.get('file:///try.net'));
  const at = new Position(3, 0);
  const hover = await registered.Hover.provideHover(whole, at, never);
  check('hover', hover.contents.value.includes('h : f32[2, 4]') && hover.range.end.character === 1, hover);
  const definition = await registered.Definition.provideDefinition(whole, new Position(4, 12), never);
  check('definition', definition.range.start.line === 3 && definition.uri.toString() === 'file:///try.net', definition);
  const items = await registered.CompletionItem.provideCompletionItems(whole, new Position(3, 14), never);
  check('completion', items.some((item) => item.label === 'units =' && item.insertText === 'units = '), items.length);
  const hints = await registered.InlayHints.provideInlayHints(whole, new Range(at, at), never);
  check('hints', hints.some((hint) => hint.label === ': f32[2, 4]'), hints);
  const symbols = await registered.DocumentSymbol.provideDocumentSymbols(whole, never);
  check('symbols', symbols.some((symbol) => symbol.name === 'h' && symbol.kind === 12), symbols);
  const help = await registered.SignatureHelp.provideSignatureHelp(whole, new Position(3, 14), never);
  check('signature', help.signatures[0].parameters.length === 4 && help.activeParameter === 1, help);
  const uses = await registered.Reference.provideReferences(whole, at, { includeDeclaration: true }, never);
  check('references', uses.length === 2, uses);
  check('highlights', (await registered.DocumentHighlight.provideDocumentHighlights(whole, at, never))[0].kind === 2);
  const renamed = await registered.Rename.provideRenameEdits(whole, at, 'hidden', never);
  check('rename', renamed.entries[0][1].length === 2 && renamed.entries[0][1][0].newText === 'hidden', renamed);
  await registered.Rename.prepareRename(whole, new Position(3, 5), never).then(
    () => check('names of the library are not renamed', false), () => check('names of the library are not renamed', true));
  check('formatting', (await registered.DocumentFormattingEdit.provideDocumentFormattingEdits(whole, {}, never)).length === 0);

  const edited = document(TEXT.replace('linear', 'linaer'), 2);
  told = diagnosed();
  handlers.change.forEach((handler) => handler({ document: edited, contentChanges: [
    { range: new Range(new Position(3, 4), new Position(3, 10)), text: 'linaer' }] }));
  await told;
  const found = shown.get('file:///try.net');
  check('a mistake', found.length === 1 && found[0].severity === 0 && found[0].range.start.character === 4, found);
  const actions = await registered.CodeActions.provideCodeActions(edited, found[0].range, { diagnostics: found }, never);
  check('a quick fix', actions[0].edit.entries[0][1][0].newText === 'linear', actions);

  documents[0] = edited;
  told = diagnosed();
  await commands['nnc.restart']();
  await told;
  check('a new server knows open documents', shown.get('file:///try.net').length === 1, [...shown]);
  check('and is asked about them', await asked !== null, asked);
  told = diagnosed();
  handlers.close.forEach((handler) => handler(edited));
  await told;
  check('nothing stays of what is closed', shown.get('file:///try.net').length === 0);
  check('no errors were shown', errors.length === 0, errors);

  const { provideHover } = registered.Hover;
  const set = (name, value) => {
    vscode.workspace.getConfiguration = () => ({ get: () => value });
    return Promise.all(handlers.settings.map((handler) => handler({ affectsConfiguration: (asked) => asked === name })));
  };
  documents[0] = whole;
  await set('nnc.other', '/no/such/nnc');
  check('other settings change nothing', errors.length === 0 && registered.Hover, errors);
  await set('nnc.path', '/no/such/nnc');
  check('a server that is not there is told', errors.length === 1 && errors[0].includes('nnc.path'), errors);
  check('and is not asked', Object.keys(registered).length === 0, Object.keys(registered));
  check('and asking is harmless', await provideHover(whole, at, never) === null);
  await Promise.all([set('nnc.path', '/no/such/nnc'), set('nnc.path', nnc), commands['nnc.restart']()]);
  check('the right path starts it', (await registered.Hover.provideHover(whole, at, never)).range, errors);
  await extension.deactivate();
  check('nothing is left', Object.keys(registered).length === 0, Object.keys(registered));

  const grammar = require(path.join(folder, 'syntaxes/nnc.tmLanguage.json'));
  const rules = (list) => list.flatMap((rule) => [rule.match, rule.begin, rule.end, ...rules(rule.patterns || [])]).filter(Boolean);
  const all = rules(grammar.patterns);
  check('the grammar has rules', all.length > 10 && all.every((rule) => new RegExp(rule)), all);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

setTimeout(() => { console.log('FAIL no answer within a minute'); process.exit(1); }, 60000);
main();
