// A small RDF graph with literals, languages, blank nodes and names that hurt.
export const ODD_NAMES = ["<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>", "Zoë \"the quote\" O'Hara", "a & b <b>bold</b>", "日本語の名前", "‮right to left", "x".repeat(180)];

const escaped = (text) => text.replace(/\\/g, "\\\\").replace(/"/g, '\\"');

export function oddGraph() {
    const lines = [
        "@prefix ex: <http://example.org/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .", "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
    ];
    ODD_NAMES.forEach((name, i) => lines.push(`ex:odd${i} rdfs:label "${escaped(name)}" ; ex:knows ex:person${i} ; ex:age "${20 + i}"^^xsd:integer ; ex:motto "Hallo ${i}"@de , "Hello ${i}"@en .`));
    for (let i = 0; i < 60; i++) {
        lines.push(`ex:person${i} rdfs:label "Person ${i}"@en ; ex:knows ex:person${(i * 7 + 1) % 60} , ex:person${(i * 3 + 2) % 60} ; ex:livesIn ex:city${i % 6} .`);
        if (i % 4 === 0) lines.push(`ex:person${i} ex:worksFor ex:company${i % 5} .`);
        if (i % 10 === 0) lines.push(`ex:person${i} ex:address [ ex:street "Main street ${i}" ] .`);
    }
    for (let i = 0; i < 6; i++) lines.push(`ex:city${i} rdfs:label "City ${i}" ; ex:partOf ex:country${i % 2} .`);
    for (let i = 0; i < 5; i++) lines.push(`ex:company${i} ex:basedIn ex:city${i} .`);
    return lines.join("\n") + "\n";
}
