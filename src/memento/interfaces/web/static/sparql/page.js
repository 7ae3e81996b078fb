// The page at /sparql: YASGUI on this service, with its prefixes, its terms and its examples, and nothing from elsewhere.
import { graphPlugin } from "./drawing.js";
import { tablePlugin } from "./table.js";

const { Yasqe, Yasr } = window;
const endpoint = new URL(document.body.dataset.endpoint, location.href).href;
const known = new URL("/memory/status", location.href).href;
const prefixes = JSON.parse(document.body.dataset.prefixes);
const namespaces = document.getElementById("namespace");
const examples = [...document.querySelectorAll(".example")];
const tokenForm = document.getElementById("token");
const tokenText = document.getElementById("token-text");
const tokenOpen = document.getElementById("token-open");
const TOKEN = "memento-token";
const NAMESPACE = "memento-namespace";

// YASGUI would write a token that it knows into links and curl lines: it goes in here, behind its back. And it runs what a link
// says where the link says: nothing is asked but queries, of this service.
const fetched = window.fetch.bind(window);
async function ask(...asked) {
  const request = new Request(...asked);
  if (![endpoint, known].includes(request.url)) throw new Error(`This page asks ${endpoint} alone, not ${request.url}`);
  const token = sessionStorage.getItem(TOKEN);
  if (token) request.headers.set("Authorization", `Bearer ${token}`);
  const response = await fetched(request);
  if (response.status === 401) showToken(true, token ? "This token is not known here." : "This service asks for a token.");
  return response;
}

let status = 0; // of what YASGUI asked last, which keeps the text of an error alone
window.fetch = async (...asked) => {
  status = 0;
  const response = await ask(...asked);
  status = response.status;
  if (!response.ok || !response.headers.get("Content-Type")?.includes("turtle")) return response;
  // It takes an answer without a letter for none at all, and an empty graph is an answer.
  return new Response((await response.text()) || "# nothing\n", { status, headers: response.headers });
};

function showToken(shown, why) {
  tokenForm.hidden = !shown;
  tokenOpen.setAttribute("aria-expanded", String(shown));
  if (why) document.getElementById("token-why").dataset.why = why;
  if (shown) tokenText.focus();
}

function useToken(token) {
  if (token) sessionStorage.setItem(TOKEN, token);
  else sessionStorage.removeItem(TOKEN);
  delete document.getElementById("token-why").dataset.why;
  tokenText.value = "";
  tokenOpen.classList.toggle("set", Boolean(token));
  showToken(false);
  load();
}

tokenOpen.addEventListener("click", () => showToken(tokenForm.hidden));
tokenForm.addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(tokenText.value.trim());
});
tokenForm.addEventListener("reset", () => useToken(""));

const nameOf = (term) => term.slice(Math.max(term.lastIndexOf("/"), term.lastIndexOf("#")) + 1).toLowerCase();

function short(iri, declared = prefixes) {
  const [prefix, base] = Object.entries(declared).find(([, base]) => iri.startsWith(base) && iri !== base) ?? [];
  return base === undefined ? undefined : `${prefix}:${iri.slice(base.length)}`;
}

// What is completed: the terms of the graphs that the reader sees, instead of a directory in the network.
const terms = { class: [], property: [] };
function completes(name, get) {
  Yasqe.Autocompleters[name] = { ...Yasqe.Autocompleters[name], get, persistenceId: undefined };
}
completes("prefixes", () => Object.entries(prefixes).map(([prefix, base]) => `${prefix}: <${base}>`));
for (const kind of ["class", "property"]) {
  completes(kind, (_yasqe, token) => {
    const begun = token?.autocompletionString ?? "";
    return terms[kind].filter((term) => term.startsWith(begun) || nameOf(term).startsWith(begun.toLowerCase()));
  });
  Yasqe.Autocompleters[kind].postProcessSuggestion = (yasqe, _token, term) =>
    short(term, { ...prefixes, ...yasqe.getPrefixesFromQuery() }) ?? `<${term}>`;
}

async function load() {
  const held = await ask(known).catch(() => undefined);
  if (!held?.ok) return;
  const { namespace, namespaces: all } = await held.json();
  const chosen = sessionStorage.getItem(NAMESPACE) || namespace;
  namespaces.replaceChildren(
    ...[...new Set([namespace, ...all])].sort().map((name) => new Option(name, name, name === namespace, name === chosen)),
  );
  const query = document.getElementById("terms").content.textContent;
  const headers = { Accept: "application/sparql-results+json", "Content-Type": "application/sparql-query" };
  const found = await ask(endpoint, { method: "POST", headers, body: query }).catch(() => undefined);
  if (!found?.ok) return;
  const rows = (await found.json()).results.bindings;
  const of = (isClass) => rows.filter((row) => (row.isClass.value === "true") === isClass).map((row) => row.term.value);
  terms.class = of(true);
  terms.property = of(false);
}
namespaces.addEventListener("change", () => sessionStorage.setItem(NAMESPACE, namespaces.value));

// An error of this service says in one sentence what is wrong and where; a click goes there.
const PLACE = /line (\d+)(?:,? (?:and )?column (\d+))?|\bat (\d+):(\d+)/;
function toldBy(text) {
  try {
    return JSON.parse(text).error ?? { message: text };
  } catch {
    if (/abort/i.test(text)) return { message: "The query was stopped." };
    if (!/fetch|network/i.test(text)) return { message: text };
    if (!status) return { message: "The service does not answer: is it running?" };
    return {
      code: "broken off",
      message: "The answer ended too early: it passed a limit on time, rows or bytes, or the service stopped.",
    };
  }
}

async function shownError({ text }) {
  const told = toldBy(text);
  const box = element("div", { className: "failure", role: "alert" });
  box.append(
    element("strong", {
      textContent: [status >= 400 ? status : "", told.code?.replaceAll("_", " ")].join(" ").trim() || "error",
    }),
  );
  box.append(element("p", { textContent: told.message }));
  const place = PLACE.exec(told.message ?? "");
  const line = told.line ?? place?.[1] ?? place?.[3];
  if (line) {
    const column = told.column ?? place?.[2] ?? place?.[4] ?? 1;
    const button = element("button", { type: "button", textContent: `Go to line ${line}, column ${column}` });
    button.addEventListener("click", () => goTo(Number(line) - 1, Number(column) - 1));
    box.append(button);
  }
  return box;
}
Yasr.defaults.errorRenderers = [shownError];
Yasr.defaults.pluginOrder = ["table", "graph", "response"];

function goTo(line, column) {
  const yasqe = yasgui.getTab().getYasqe();
  yasqe.setCursor(line, column);
  yasqe.scrollIntoView({ line, ch: column }, 60);
  yasqe.focus();
  yasqe.addLineClass(line, "background", "failed");
  yasqe.on("change", function clear() {
    yasqe.removeLineClass(line, "background", "failed");
    yasqe.off("change", clear);
  });
}

function element(tag, properties) {
  const { role, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  if (role) made.setAttribute("role", role);
  return made;
}

Yasr.registerPlugin("table", tablePlugin(Yasr.plugins.table, short));
Yasr.registerPlugin(
  "graph",
  graphPlugin((iri) => short(iri) ?? iri),
);
Yasr.defaults.plugins.table.dynamicConfig = { compact: true, isEllipsed: false }; // text to be read: no datatypes, nothing cut off
const requestConfig = {
  endpoint,
  method: "POST",
  acceptHeaderGraph: "text/turtle",
  acceptHeaderSelect: "application/sparql-results+json",
  headers: () => (namespaces.value ? { "Memento-Namespace": namespaces.value } : {}),
};
const yasgui = new window.Yasgui(document.getElementById("yasgui"), {
  persistenceId: "memento",
  copyEndpointOnNewTab: false,
  endpointCatalogueOptions: { getData: () => [] },
  requestConfig,
  populateFromUrl: (linked) => ({ ...linked, requestConfig }), // a link brings a query, and does not say how it is asked
  yasqe: {
    value: examples[0].dataset.query,
    autocompleters: ["prefixes", "variables", "class", "property"],
    editorHeight: "17em",
    highlightSelectionMatches: { showToken: false },
  },
  // Answers hold memories: none is kept in the browser.
  yasr: { prefixes, maxPersistentResponseSize: 0 },
});

// A graph is drawn and a table is listed, until the reader wants it otherwise.
const drawn = new WeakMap();
yasgui.on("queryResponse", (_yasgui, tab) => {
  const form = tab.getYasqe().getQueryType();
  if (drawn.get(tab) === form) return;
  drawn.set(tab, form);
  tab.getYasr().selectedPlugin = form === "CONSTRUCT" || form === "DESCRIBE" ? "graph" : "table"; // before it draws, not again after
});

function open(name, query) {
  const tab = yasgui.getTab();
  const isOwn = tab && !examples.some((one) => one.dataset.query === tab.getQuery()) && tab.getQuery().trim();
  if (isOwn || !tab)
    return yasgui.addTab(true, { ...yasgui.constructor.Tab.getDefaults(yasgui), name, yasqe: { value: query } });
  tab.setQuery(query);
  tab.setName(name);
  return tab;
}

for (const button of examples) {
  button.addEventListener("click", () => {
    const { name, query, sample } = button.dataset;
    const tab = open(name, query);
    const yasqe = tab.getYasqe();
    if (!sample) return tab.query().catch(() => {});
    const doc = yasqe.getDoc();
    const places = [...query.matchAll(sample)].map(({ index }) => index); // all of them: what is pasted replaces each
    doc.setSelections(places.map((at) => ({ anchor: doc.posFromIndex(at), head: doc.posFromIndex(at + sample.length) })));
    return yasqe.focus();
  });
}

// A page on which nothing was written yet answers its first example.
const empty = yasgui.getTab();
if (empty && empty.getQuery() === examples[0].dataset.query) empty.query().catch(() => {});

// An IRI in a result is looked up here; with Ctrl or another button the browser follows it.
function describe(iri) {
  const tab = yasgui.addTab(true, {
    ...yasgui.constructor.Tab.getDefaults(yasgui),
    name: (short(iri) ?? iri).slice(0, 24),
    yasqe: { value: `DESCRIBE <${iri}>\n` },
  });
  tab.query().catch(() => {});
}
document.addEventListener("describe", (event) => describe(event.detail));
document.getElementById("yasgui").addEventListener("click", (event) => {
  const link = event.target.closest?.("a.iri");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  describe(link.dataset.iri);
});

useToken(sessionStorage.getItem(TOKEN) ?? "");
