// The entrypoint of the image: the first argument names a program, the rest is the program's own. One image holds the
// operator and what runs in its pods, so that the two are always of one version; a program is loaded only when it is named.

const programs = new Map<string, () => Promise<unknown>>([['operator', () => import('./operator/main.ts')]]);

const [name = ''] = process.argv.splice(2, 1);
const start = programs.get(name);
if (start) await start();
else {
  process.stderr.write(`error: this image has no program "${name}"; it has: ${[...programs.keys()].join(', ')}\n`);
  process.exitCode = 2;
}
