// Where the words go: on a terminal one line lives and is written over until it is done, elsewhere every change is a line.

/** Something to write on, as standard output is. */
export interface Paper {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** What is shown to a person. */
export interface Screen {
  /** A line that stays. */
  say(line: string): void;
  /** The line that lives. */
  show(line: string): void;
  /** Lets the living line stay as it is. */
  settle(): void;
}

/** A screen on this paper. */
export function screenOn(paper: Paper): Screen {
  let living: string | undefined;
  const terminal = paper.isTTY === true;
  const settle = () => {
    if (terminal && living !== undefined) paper.write('\n');
    living = undefined;
  };
  return {
    settle,
    say(line) {
      settle();
      paper.write(`${line}\n`);
    },
    show(line) {
      if (line === living) return;
      living = line;
      // A terminal that does not know its width says 0.
      const width = (paper.columns || 80) - 1;
      paper.write(terminal ? `\r\x1b[2K${line.slice(0, width)}` : `${line}\n`);
    },
  };
}
