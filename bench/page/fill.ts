// A page in which texts stand between marks, `<!-- name -->` and `<!-- /name -->`, each on a line of its own.

/** The page with these texts between their marks; every mark must be there. */
export function filled(page: string, texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts).reduce((before, [name, text]) => {
    const [from, to] = [`<!-- ${name} -->\n`, `<!-- /${name} -->\n`];
    const [begin, end] = [before.indexOf(from), before.indexOf(to)];
    if (begin < 0 || end < begin) throw new Error(`the page has no place for ${name}`);
    return `${before.slice(0, begin + from.length)}${text}\n${before.slice(end)}`;
  }, page);
}
