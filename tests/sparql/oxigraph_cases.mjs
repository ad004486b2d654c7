// Answers the cases of random_cases.py with oxigraph: a line of JSON for each graph, a list of SPARQL JSON results, true or
// false, or {"error": ...}.
import oxigraph from 'oxigraph';
import readline from 'node:readline';

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { data, queries } = JSON.parse(line);
  const store = new oxigraph.Store();
  store.load(data, { format: 'text/turtle' });
  const out = queries.map((query) => {
    try {
      const result = store.query(query, { results_format: 'json' });
      return JSON.parse(result);
    } catch (error) {
      return { error: String(error) };
    }
  });
  console.log(JSON.stringify(out));
}
