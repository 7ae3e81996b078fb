// Asks with Comunica: `node comunica.cjs FOLDER QUERY_URL UPDATE_URL rows|ask|quads|update TEXT`; prints JSON.
const { createRequire } = require('node:module');
const [folder, query, update, kind, text] = process.argv.slice(2);
const { QueryEngine } = createRequire(`${folder}/`)('@comunica/query-sparql');

const engine = new QueryEngine();
const context = { sources: [{ type: 'sparql', value: query }] };
const asked = {
  rows: async () => (await (await engine.queryBindings(text, context)).toArray())
    .map(row => Object.fromEntries([...row].map(([variable, term]) => [variable.value, term.value]))),
  ask: () => engine.queryBoolean(text, context),
  quads: async () => (await (await engine.queryQuads(text, context)).toArray()).map(quad => quad.subject.value),
  update: async () => {
    await engine.queryVoid(text, { sources: [], destination: { type: 'sparql', value: update } });
    return true;
  },
};
asked[kind]().then(answer => console.log(JSON.stringify(answer)));
