// A plugin of YASGUI that draws triples as a graph: CONSTRUCT, DESCRIBE, and rows of ?s ?p ?o or ?subject ?predicate ?object.
// IRIs and blank nodes are circles, coloured by type; literals are their labels, and what is told of them when they are chosen.
import { graph, layOut, triples } from "./graph.js";

const KINDS = 8; // colours
const SVG = "http://www.w3.org/2000/svg";
let arrows = 0;
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function html(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

class Drawing {
  // `short` writes an IRI with a prefix, where there is one.
  constructor(drawn, parent, short) {
    this.drawn = drawn;
    this.short = short;
    this.kinds = this.legend();
    this.lines = svg("g", { class: drawn.edges.length > 80 ? "edges many" : "edges" });
    this.circles = svg("g", { class: "nodes" });
    const id = `arrow-${(arrows += 1)}`; // of its own, as a tab out of sight draws none for others
    this.arrow = `url(#${id})`;
    const arrow = svg("marker", { id, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
    arrow.append(svg("path", { d: "M0 0 8 4 0 8Z" }));
    this.picture = svg("svg", { class: "graph", role: "group", "aria-label": `A graph of ${drawn.nodes.length} nodes` });
    this.picture.append(svg("defs", {}, arrow), this.lines, this.circles);
    this.details = html("div", "details");
    this.details.setAttribute("aria-live", "polite");
    drawn.edges.forEach((edge) => this.addEdge(edge));
    drawn.nodes.forEach((one) => this.addNode(one));
    parent.append(html("div", "graph-box", this.head(), this.picture, this.details));
    this.place();
    this.fit();
    this.picture.addEventListener("pointerdown", (event) => this.grab(event));
    this.picture.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.picture.addEventListener("keydown", (event) => this.key(event));
    drawn.nodes[0]?.circle.setAttribute("tabindex", 0);
  }

  legend() {
    const counts = new Map();
    for (const { types } of this.drawn.nodes) if (types[0]) counts.set(types[0], (counts.get(types[0]) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([type]) => type);
  }

  kind = ({ types }) => `kind-${types[0] ? Math.min(this.kinds.indexOf(types[0]), KINDS - 1) : "none"}`;

  head() {
    const { nodes, edges, usual, left } = this.drawn;
    const rest = left ? `; ${left} triples more are not drawn: narrow the query` : "";
    const button = (text, title, done) => {
      const made = html("button", "", text);
      Object.assign(made, { type: "button", title, onclick: done });
      return made;
    };
    return html(
      "div",
      "graph-head",
      html("span", "count", `${nodes.length} nodes, ${edges.length} edges${usual ? ` (${usual} unless labelled)` : ""}${rest}`),
      ...this.kinds.slice(0, KINDS).map((type) => html("span", `kind ${this.kind({ types: [type] })}`, this.short(type))),
      html(
        "span",
        "zoom",
        button("−", "Smaller", () => this.zoom(1.25)),
        button("+", "Larger", () => this.zoom(0.8)),
        button("Fit", "Show all", () => this.fit()),
      ),
    );
  }

  addEdge(edge) {
    edge.line = svg("path", { "marker-end": this.arrow });
    const isUsual = edge.names.size === 1 && edge.names.has(this.drawn.usual);
    edge.text = svg("text", { class: isUsual ? "usual" : "" }, [...edge.names].join(", "));
    this.lines.append(edge.line, edge.text);
  }

  addNode(one) {
    const words = cut(one.label, 56).split(" ");
    const lines = [""];
    for (const word of words) {
      if (lines.at(-1) && lines.at(-1).length + word.length > 26) lines.push("");
      lines[lines.length - 1] += `${lines.at(-1) && " "}${word}`;
    }
    one.radius = 7 + Math.min(Math.sqrt(one.degree) * 2, 9);
    const text = svg("text", {}, ...lines.map((line, i) => svg("tspan", { x: 0, y: one.radius + 13 + 13 * i }, cut(line, 30))));
    one.circle = svg("g", { class: `node ${this.kind(one)}`, tabindex: -1, role: "button", "aria-label": one.label });
    one.circle.append(svg("circle", { r: one.radius }), text, svg("title", {}, one.id));
    one.circle.addEventListener("focus", () => this.tell(one));
    one.circle.addEventListener("dblclick", () => this.describe(one));
    this.circles.append(one.circle);
  }

  place() {
    for (const { circle, x, y } of this.drawn.nodes)
      circle.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    for (const { from, to, line, text } of this.drawn.edges) {
      const far = Math.hypot(to.x - from.x, to.y - from.y) || 1;
      const [x, y] = [(to.x - from.x) / far, (to.y - from.y) / far];
      const [startX, startY, endX, endY] = [
        from.x + x * from.radius,
        from.y + y * from.radius,
        to.x - x * (to.radius + 2),
        to.y - y * (to.radius + 2),
      ];
      const loop = `M${from.x - 6} ${from.y - from.radius}c-24 -44 36 -44 14 -2`;
      line.setAttribute("d", from === to ? loop : `M${startX} ${startY}L${endX} ${endY}`);
      text.setAttribute("x", from === to ? from.x : (startX + endX) / 2);
      text.setAttribute("y", from === to ? from.y - from.radius - 30 : (startY + endY) / 2 - 3);
    }
  }

  see(x, y, width, height) {
    this.seen = { x, y, width, height };
    this.picture.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  }

  fit() {
    const { x, y, width, height } = this.circles.getBBox();
    const { clientWidth, clientHeight } = this.picture;
    const scale = Math.max((width + 50) / clientWidth, (height + 50) / clientHeight, 0.75);
    this.see(
      x + width / 2 - (clientWidth * scale) / 2,
      y + height / 2 - (clientHeight * scale) / 2,
      clientWidth * scale,
      clientHeight * scale,
    );
  }

  zoom(by) {
    const { x, y, width, height } = this.seen;
    this.see(x + (width * (1 - by)) / 2, y + (height * (1 - by)) / 2, width * by, height * by);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // else the page scrolls, as anywhere
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.15 : 0.87);
  }

  grab(event) {
    const one = this.drawn.nodes.find(({ circle }) => circle.contains(event.target));
    const scale = this.seen.width / this.picture.clientWidth;
    const begun = { ...(one ?? this.seen) };
    const move = ({ clientX, clientY }) => {
      const [x, y] = [(clientX - event.clientX) * scale, (clientY - event.clientY) * scale];
      if (!one) return this.see(begun.x - x, begun.y - y, begun.width, begun.height);
      Object.assign(one, { x: begun.x + x, y: begun.y + y });
      return this.place();
    };
    this.picture.setPointerCapture(event.pointerId);
    this.picture.addEventListener("pointermove", move);
    this.picture.addEventListener("lostpointercapture", () => this.picture.removeEventListener("pointermove", move), {
      once: true,
    });
    if (one) one.circle.focus();
  }

  // Arrows go to the nearest node on that side; Enter asks what else is known of it.
  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" && this.told) this.describe(this.told);
    if (!way || !this.told) return;
    event.preventDefault();
    const along = ({ x, y }) => (x - this.told.x) * way[0] + (y - this.told.y) * way[1];
    const far = ({ x, y }) => Math.hypot(x - this.told.x, y - this.told.y);
    const ahead = this.drawn.nodes.filter((one) => along(one) > 0.5 * far(one));
    ahead.sort((a, b) => far(a) - far(b))[0]?.circle.focus();
  }

  tell(one) {
    this.told?.circle.setAttribute("tabindex", -1);
    one.circle.setAttribute("tabindex", 0);
    this.told = one;
    for (const { from, to, line, text } of this.drawn.edges) {
      for (const part of [line, text]) part.classList.toggle("near", from === one || to === one);
    }
    const rows = [
      ...one.types.map((type) => ["a", this.short(type)]),
      ...one.told.map(([name, value]) => [this.short(name), value]),
    ];
    const list = html("dl", "", ...rows.flatMap(([name, value]) => [html("dt", "", name), html("dd", "", value)]));
    const button = html("button", "", "Describe");
    Object.assign(button, { type: "button", onclick: () => this.describe(one), hidden: one.id.startsWith("_:") });
    this.details.replaceChildren(html("code", "", one.id), button, list);
  }

  describe({ id }) {
    if (!id.startsWith("_:")) document.dispatchEvent(new CustomEvent("describe", { detail: id }));
  }
}

export const graphPlugin = (short) =>
  class Graph {
    label = "Graph";
    priority = 5; // below the table, so that rows are listed unless the reader chooses otherwise

    constructor(yasr) {
      this.yasr = yasr;
      // The controls of the table are for the table alone.
      yasr.on("draw", (_yasr, plugin) => yasr.rootEl.classList.toggle("listed", plugin === yasr.plugins.table));
    }

    canHandleResults() {
      return Boolean(triples(this.yasr.results));
    }

    draw() {
      const drawn = graph(triples(this.yasr.results), short);
      if (!drawn.nodes.length) return this.yasr.resultsEl.append(html("p", "empty", "The graph is empty: nothing matches."));
      layOut(drawn, 80, Math.min(Math.max(this.yasr.resultsEl.clientWidth / 600, 0.8), 1.5)); // a label is wide, and so may a screen be
      new Drawing(drawn, this.yasr.resultsEl, short);
    }

    getIcon() {
      const icon = html("div", "svgImg");
      icon.append(
        svg(
          "svg",
          { viewBox: "0 0 16 16" },
          svg("path", {
            fill: "currentColor",
            d: "M3 1a3 3 0 0 1 2.9 3.6l4 1.3a2.5 2.5 0 1 1-.3 1l-4.2-1.4-.6.7 2.4 3.9a3 3 0 1 1-.9.5L4 6.8A3 3 0 1 1 3 1Z",
          }),
        ),
      );
      return icon;
    }
  };
