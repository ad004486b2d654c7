// Answers the cases of random_cases.py with oxigraph: a line of JSON for each graph, a list of pairs of SPARQL JSON results or
// {"error": ...}: of the query, and of the query with its paths written out if that is another one.
import oxigraph from 'oxigraph';
import readline from 'node:readline';

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { data, queries, written } = JSON.parse(line);
  const store = new oxigraph.Store();
  store.load(data, { format: 'text/turtle' });
  const answer = (query) => {
    try {
      const result = store.query(query, { results_format: 'json' });
      return JSON.parse(result);
    } catch (error) {
      return { error: String(error) };
    }
  };
  const out = queries.map((query, i) => [answer(query), written[i] === query ? null : answer(written[i])]);
  console.log(JSON.stringify(out));
}
