// What a registry asks for when it answers 401: the WWW-Authenticate header, which may hold several challenges, quoted
// texts with commas in them, and names in any case.

/** One way to prove who one is. */
export interface Challenge {
  /** In lower case. */
  scheme: string;
  parameters: Readonly<Record<string, string>>;
}

const token = String.raw`[!#$%&'*+.^_\`|~0-9A-Za-z-]+`;
const quoted = String.raw`"(?:[^"\\]|\\.)*"`;
const piece = new RegExp(String.raw`\s*,*\s*(${token})(?:\s*=\s*(${quoted}|${token})|(?=\s|,|$))`, 'y');

/** Every challenge of the header or headers; what cannot be read ends the reading. */
export function challengesIn(header: string | readonly string[] | undefined): Challenge[] {
  return [header ?? []].flat().flatMap((line) => read(line.slice(0, 8_192)));
}

function read(line: string): Challenge[] {
  const found: { scheme: string; parameters: Record<string, string> }[] = [];
  piece.lastIndex = 0;
  for (let match = piece.exec(line); match; match = piece.exec(line)) {
    const [, name = '', value] = match;
    const last = found.at(-1);
    if (value === undefined) found.push({ scheme: name.toLowerCase(), parameters: {} });
    else if (last) last.parameters[name.toLowerCase()] = unquoted(value);
  }
  return found;
}

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
