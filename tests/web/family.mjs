// Forty families of three generations, of whom some facts are not written down: the graph of the pictures.
const GIVEN = ["Ada", "Bruno", "Clara", "David", "Elin", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karin", "Leo", "Mira", "Nils", "Olga", "Paul", "Rosa", "Sven", "Tilda", "Viktor"];
const FAMILY = ["Lind", "Berg", "Falk", "Holm", "Strand", "Moreau", "Keller", "Novak", "Rossi", "Silva", "Costa", "Weiss", "Brandt", "Jansen", "Visser", "Larsen", "Dahl", "Nyberg", "Ekman", "Sandell",
    "Marin", "Petit", "Fontaine", "Leroy", "Bianchi", "Greco", "Serra", "Vidal", "Ortega", "Campos", "Horvat", "Kovar", "Dvorak", "Szabo", "Nemeth", "Varga", "Lehto", "Salo", "Aalto", "Niemi"];

export function familyGraph() {
    const lines = ["@prefix : <http://example.org/family#> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."];
    let facts = 0;
    const say = (h, r, t) => {
        // Elin and Clara of the first family are sisters, and nobody wrote it down.
        const lost = (h === 4 && t === 2 && r === "hasSibling") || (h >= 10 && ++facts % 19 === 0);
        if (!lost) lines.push(`:p${h} :${r} :p${t} .`);
    };
    for (let family = 0; family < 40; family++) {
        const base = family * 10;
        for (let i = 0; i < 10; i++) {
            const born = (i < 2 ? 1921 : i < 5 ? 1948 : 1975) + ((family * 7 + i * 3) % 11);
            lines.push(`:p${base + i} rdfs:label "${GIVEN[(i + family * 3) % 20]} ${FAMILY[family]}" ; rdfs:comment "born in ${born}" .`);
        }
        say(base, "hasSpouse", base + 1);
        say(base + 1, "hasSpouse", base);
        for (let c = 2; c <= 4; c++) {
            say(base, "hasChild", base + c);
            say(base + 1, "hasChild", base + c);
            for (let s = 2; s <= 4; s++) if (s !== c) say(base + c, "hasSibling", base + s);
        }
        for (let g = 5; g <= 9; g++) {
            say(base + 2 + (g % 3), "hasChild", base + g);
            say(base, "hasGrandchild", base + g);
            say(base + 1, "hasGrandchild", base + g);
        }
    }
    return lines.join("\n") + "\n";
}

// Aunts and uncles of Felix Lind, whose mother is Elin: one is known, Clara is not.
export const AUNTS = '?x : hasChild(?mother, "Felix Lind") & hasSibling(?mother, ?x)';
