// The graph explorer: it starts from a search, a node or a way, and grows by clicks; the list beside it has the same nodes for the keyboard.
const box = document.getElementById("graph");
const list = document.getElementById("graph-list");
const said = document.getElementById("graph-status");
const details = document.getElementById("graph-node");
const NAMESPACE = box.dataset.namespace;
const dark = matchMedia("(prefers-color-scheme: dark)");
const COLOURS = { Memory: "#5b9bd5", Note: "#98a4b3", User: "#d55e00", Tag: "#b3a1d9", Person: "#e69f00", Organization: "#009e73", Location: "#cc79a7", Project: "#56b4e9", Technology: "#7a8f2a", Event: "#c25b5b", Concept: "#8c78bd" };

const QUIET = new Set(["about", "mentions", "tagged", "extractedFrom"]); // what nearly every line says has no name on it
const withNotes = document.getElementById("with-notes");
const spell = (relation) => relation.replace(/([a-z\d])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const address = (path, values) => {
  const query = new URLSearchParams({ ...values, ...(NAMESPACE && { namespace: NAMESPACE }) }).toString();
  return query ? `${path}?${query}` : path;
};

let scale = 1; // a label has the same size on the screen, however far the graph is zoomed out
const LINE = 24; // letters of a line of a label

function style() {
  const ink = getComputedStyle(document.body).color;
  const ground = getComputedStyle(box).backgroundColor;
  const line = dark.matches ? "#7d8ba0" : "#8795a5";
  return [
    { selector: "node", style: { "background-color": (node) => COLOURS[node.data("kind")] ?? "#8aa0b4", label: (node) => shorten(node.data("label"), 34), color: ink, "font-size": 13 * scale, "font-family": "system-ui, sans-serif", "text-wrap": "wrap", "text-max-width": 7 * LINE * scale, "text-valign": "bottom", "text-margin-y": 4 * scale, "text-outline-color": ground, "text-outline-width": 2 * scale, width: 20, height: 20 } },
    { selector: "node.unnamed", style: { "text-opacity": 0 } },
    { selector: "node[kind = 'Memory']", style: { shape: "round-rectangle", width: 22, height: 17 } },
    { selector: "node[kind = 'Note']", style: { shape: "rectangle", width: 14, height: 17 } },
    { selector: "node[?isPast]", style: { "background-opacity": 0.35, "border-width": 1, "border-style": "dashed", "border-color": ink } },
    { selector: "node:selected", style: { "text-opacity": 1, "z-index": 1, "border-width": 3, "border-color": ink, "border-style": "solid" } },
    { selector: "edge", style: { width: 1.2, "line-color": line, "target-arrow-color": line, "target-arrow-shape": "triangle", "arrow-scale": 0.7, "curve-style": "bezier", label: (edge) => (QUIET.has(edge.data("relation")) ? "" : spell(edge.data("relation"))), color: ink, "font-size": 11 * scale, "text-opacity": graph?.edges().length > 25 ? 0 : 0.85, "text-rotation": "autorotate", "text-outline-color": ground, "text-outline-width": 2 * scale } },
    { selector: "edge.named", style: { "text-opacity": 1, "z-index": 1 } },
    { selector: "edge[relation = 'rival'], edge[relation = 'contradicts']", style: { "line-color": "#c0392b", "target-arrow-color": "#c0392b" } },
    { selector: "edge[relation = 'invalidates']", style: { "line-style": "dashed" } },
  ];
}

let graph = null;
graph = cytoscape({ container: box, style: style(), minZoom: 0.15, maxZoom: 4, hideEdgesOnViewport: true, textureOnViewport: false, pixelRatio: 1 });
dark.addEventListener("change", () => graph.style(style()));
window.memoryGraph = graph; // for tests
new ResizeObserver(() => graph.resize()).observe(box);

// Names nodes in readable letters: first those with the most links, then whichever have room left.
function nameNodes() {
  scale = 1 / graph.zoom();
  graph.style(style());
  const taken = [];
  graph.batch(() => {
    for (const node of graph.nodes().sort((one, other) => other.degree() - one.degree())) {
      const letters = shorten(node.data("label"), 34).length;
      const { x, y } = node.renderedPosition();
      const half = (7 * Math.min(letters, LINE)) / 2;
      const label = { left: x - half, right: x + half, top: y, bottom: y + 12 + 15 * Math.ceil(letters / LINE) };
      const isFree = taken.every((one) => label.right < one.left || one.right < label.left || label.bottom < one.top || one.bottom < label.top);
      node.toggleClass("unnamed", !isFree);
      if (isFree) taken.push(label);
    }
  });
}
let waiting;
graph.on("zoom", () => {
  clearTimeout(waiting);
  waiting = setTimeout(nameNodes, 100);
});

async function load(values) {
  said.textContent = "Loading…";
  const response = await fetch(address("/graph/data", values), { headers: { Accept: "application/json" } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? response.statusText);
  return answer;
}

function add({ nodes, links }, near) {
  const around = near?.position();
  const wanted = nodes.filter((one) => withNotes.checked || one.kind !== "Note");
  const shown = new Set(wanted.map((one) => one.iri));
  const fresh = wanted.filter((one) => graph.getElementById(one.iri).empty());
  graph.batch(() => {
    fresh.forEach((one, number) => {
      const angle = (2 * Math.PI * number) / fresh.length;
      graph.add({ data: { id: one.iri, label: one.label, kind: one.kind, isPast: one.is_past ?? false }, ...(around && { position: { x: around.x + 90 * Math.cos(angle), y: around.y + 90 * Math.sin(angle) } }) });
    });
    for (const one of links) {
      if (![one.source, one.target].every((iri) => shown.has(iri) || graph.getElementById(iri).nonempty())) continue;
      const id = `${one.source} ${one.relation} ${one.target}`;
      if (graph.getElementById(id).empty()) graph.add({ data: { id, ...one } });
    }
  });
  return fresh.length;
}

// The places of all nodes in a spiral, as seeds stand in a sunflower: what has the most links in the middle, and what is near it around it.
function spiral() {
  const order = new Map();
  const roots = graph.nodes().sort((one, other) => other.degree() - one.degree());
  for (const root of roots) {
    if (order.has(root.id())) continue;
    graph.elements().breadthFirstSearch({ roots: root, directed: false, visit: (node) => void (order.has(node.id()) || order.set(node.id(), order.size)) });
  }
  return (node) => {
    const place = order.get(node.id());
    return { x: 44 * Math.sqrt(place) * Math.cos(2.39996 * place), y: 44 * Math.sqrt(place) * Math.sin(2.39996 * place) };
  };
}

function arrange(isFirst) {
  if (query.start && isFirst) {
    // A way is read from left to right.
    graph.layout({ name: "preset", positions: (node) => { const place = graph.nodes().indexOf(node); return { x: 170 * place, y: 90 * (place % 2) }; }, padding: 60 }).run();
    return;
  }
  if (graph.nodes().length > 150) {
    // Forces between all pairs would hold the page up for seconds. What is added later is put beside its node.
    if (isFirst) graph.layout({ name: "preset", positions: spiral(), fit: true, padding: 30 }).run();
    return;
  }
  scale = 1;
  graph.style(style());
  graph.layout({ name: "cose", animate: false, randomize: isFirst, fit: true, padding: 30, nodeDimensionsIncludeLabels: true, nodeRepulsion: () => 6000, idealEdgeLength: () => 50, nodeOverlap: 16, gravity: 1.5, numIter: 500, componentSpacing: 70 }).run();
}

function refill(leftOut = 0) {
  const nodes = graph.nodes().sort((one, other) => one.data("label").localeCompare(other.data("label")));
  list.replaceChildren(
    ...nodes.map((node) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      const kind = document.createElement("small");
      kind.textContent = ` ${node.data("kind")}`;
      button.type = "button";
      button.dataset.id = node.id();
      button.dir = "auto";
      button.append(shorten(node.data("label"), 70), kind);
      item.append(button);
      return item;
    }),
  );
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  said.textContent = nodes.length ? `${count(nodes.length, "node")}, ${count(graph.edges().length, "link")}${leftOut ? `, ${count(leftOut, "more neighbour")}` : ""}.` : "Nothing was found.";
}

function choose(node) {
  graph.elements().unselect();
  node.select();
  graph.edges().removeClass("named");
  node.connectedEdges().addClass("named");
  for (const button of list.querySelectorAll("button")) button.toggleAttribute("aria-current", button.dataset.id === node.id());
  details.hidden = false;
  details.dataset.id = node.id();
  details.querySelector(".kind").textContent = node.data("kind") + (node.data("isPast") ? ", over" : "");
  details.querySelector(".said").textContent = node.data("label");
  details.querySelector("[data-do=open]").href = address(`/memory/${encodeURIComponent(node.id())}`, {});
}

async function expand(node) {
  try {
    const answer = await load({ node: node.id() });
    if (add(answer, node)) arrange(false);
    nameNodes();
    refill(answer.left_out);
    choose(node);
  } catch (error) {
    said.textContent = error.message;
  }
}

graph.on("tap", "node", (event) => choose(event.target));
graph.on("dbltap", "node", (event) => expand(event.target));
list.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) {
    const node = graph.getElementById(button.dataset.id);
    choose(node);
    graph.animate({ center: { eles: node }, duration: 200 });
  }
});
details.addEventListener("click", (event) => {
  const node = graph.getElementById(details.dataset.id);
  const action = event.target.dataset.do;
  if (action === "expand") expand(node);
  if (action === "remove") {
    node.remove();
    details.hidden = true;
    refill();
  }
});

const query = JSON.parse(box.dataset.query);
withNotes.checked = Boolean(query.start || query.node?.startsWith("urn:memento:note:"));
withNotes.addEventListener("change", () => {
  graph.elements().remove();
  begin();
});

const begin = () => load(query).then(
  (answer) => {
    add(answer);
    arrange(true);
    nameNodes();
    refill(answer.left_out);
    box.dataset.ready = "true";
    if (answer.nodes.length > 1 && !answer.links.length) said.textContent += " No way joins them.";
  },
  (error) => (said.textContent = error.message),
);
begin();
