// What is drawn of a result: its triples, the nodes and edges that they make, and a place for each node.
const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LABELS = ["prefLabel", "label", "name", "title", "content"]; // by the last part of the property, the best first
const MOST = 300; // nodes; more are neither read nor laid out in half a second
const GRAVITY = 1.2; // what does not hang together stays in sight
const last = (iri) => iri.slice(Math.max(iri.lastIndexOf("/"), iri.lastIndexOf("#"), iri.lastIndexOf(":")) + 1);

// [subject, predicate, object, whether the object is a literal] of each triple of a result, or nothing for another result.
export function triples(results) {
  if (!results || results.hasError()) return undefined;
  results.getAsJson(); // so that the parser knows what it has
  const statements = results.getStatements();
  if (statements) {
    const id = (term) => (term.termType === "BlankNode" ? `_:${term.value}` : term.value);
    return statements.map((one) => [id(one.subject), one.predicate.value, id(one.object), one.object.termType === "Literal"]);
  }
  const names = [
    ["s", "p", "o"],
    ["subject", "predicate", "object"],
    ["subject", "predicate", "value"],
  ];
  const columns = names.find((three) => three.every((name) => results.getVariables().includes(name)));
  if (!columns) return undefined;
  const id = (value) => (value.type === "bnode" ? `_:${value.value}` : value.value);
  const rows = (results.getBindings() ?? []).map((row) => columns.map((name) => row[name]));
  return rows.filter((row) => row.every(Boolean)).map((row) => [...row.map(id), /literal/.test(row[2].type)]);
}

// The nodes with their types and literals, and the edges between them, of as many triples as can be drawn.
export function graph(all, short) {
  const nodes = new Map();
  const edges = new Map();
  let left = 0;
  const node = (id) => {
    if (!nodes.has(id) && nodes.size >= MOST) return undefined;
    if (!nodes.has(id)) nodes.set(id, { id, types: [], told: [], degree: 0 });
    return nodes.get(id);
  };
  const isOfTypes = all.every(([, predicate]) => predicate === TYPE);
  for (const [subject, predicate, object, isLiteral] of all) {
    const from = node(subject);
    if (from && predicate === TYPE && !isOfTypes) from.types.push(object);
    else if (from && isLiteral) from.told.push([predicate, object]);
    else {
      const to = from && node(object);
      if (!to) left += 1;
      else {
        const key = `${subject}\n${object}`;
        if (!edges.has(key)) edges.set(key, { from, to, names: new Set() });
        edges.get(key).names.add(short(predicate));
        from.degree += 1;
        to.degree += 1;
      }
    }
  }
  for (const one of nodes.values()) {
    const rank = ([predicate]) => (LABELS.indexOf(last(predicate)) + LABELS.length + 1) % (LABELS.length + 1);
    const best = [...one.told].sort((a, b) => rank(a) - rank(b))[0];
    one.label = best && rank(best) < LABELS.length ? best[1] : short(one.id);
  }
  const counts = new Map();
  for (const { names } of edges.values()) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const usual = [...counts].find(([, count]) => count > edges.size / 2 && edges.size > 8)?.[0]; // told once, not on every line
  return { nodes: [...nodes.values()], edges: [...edges.values()], usual, left };
}

// Places by force: all push each other away, edges pull together, everything falls to the middle. The same graph, the same picture.
export function layOut({ nodes, edges }, length, stretch) {
  nodes.forEach((one, i) => {
    const angle = i * 2.399963; // the golden angle: no two begin at one place
    const radius = length * 0.6 * Math.sqrt(i);
    Object.assign(one, { x: radius * Math.cos(angle), y: radius * Math.sin(angle), dx: 0, dy: 0 });
  });
  const pull = (one, x, y) => {
    one.dx += x;
    one.dy += y;
  };
  const rounds = nodes.length > 150 ? 150 : 400;
  for (let round = 0; round < rounds; round += 1) {
    nodes.forEach((a, i) => {
      pull(a, -GRAVITY * a.x, -GRAVITY * a.y);
      for (const b of nodes.slice(i + 1)) {
        const [x, y] = [a.x - b.x || 0.1, a.y - b.y || 0.1];
        const push = (length * length) / (x * x + y * y);
        pull(a, x * push, y * push);
        pull(b, -x * push, -y * push);
      }
    });
    for (const { from, to } of edges) {
      const [x, y] = [to.x - from.x, to.y - from.y];
      const force = Math.hypot(x, y) / length;
      pull(from, x * force, y * force);
      pull(to, -x * force, -y * force);
    }
    const most = length * 0.3 * (1 - round / rounds) + 0.5; // what cools
    for (const one of nodes) {
      const far = Math.hypot(one.dx, one.dy) || 1;
      one.x += (one.dx / far) * Math.min(far, most);
      one.y += (one.dy / far) * Math.min(far, most);
      one.dx = one.dy = 0;
    }
  }
  for (const one of nodes) one.x *= stretch;
}
