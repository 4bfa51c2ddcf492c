// The entry point of our image: `baton PROGRAM ARGUMENTS`. Every program is a main of its own that runs when it is loaded;
// only the one that is asked for is, and it finds its arguments where it would find them without us.

import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The programs, and where their mains are beside this file. */
const programs: Readonly<Record<string, string>> = {
  operator: 'operator/main',
  download: 'programs/download/main',
  inspect: 'programs/inspect/main',
  serve: 'programs/serve/main',
};

const names = Object.keys(programs).join(', ');
const usage = `Usage: baton PROGRAM [ARGUMENTS]\nPrograms: ${names}\nSee baton PROGRAM --help.\n`;
const unknownProgram = 2;

/** Loads the program, which takes it from there. */
async function run(main: string): Promise<void> {
  const file = join(import.meta.dirname, `${main}${extname(import.meta.filename)}`);
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(file).href);
}

function refuse(name: string | undefined): void {
  const words = name === undefined ? 'no program is named' : `there is no program "${name}": it is one of ${names}`;
  process.stderr.write(`error: ${words}\n${usage}`);
  process.exitCode = unknownProgram;
}

const [, , name] = process.argv;
const main = name !== undefined && Object.hasOwn(programs, name) ? programs[name] : undefined;
if (main !== undefined) await run(main);
else if (name === '--help' || name === 'help') process.stdout.write(usage);
else refuse(name);
