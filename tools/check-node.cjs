// Plain JavaScript for any Node: says what to do when the Node that will run the sources is too old.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(`Baton needs Node 24.15 or newer, but ${process.execPath} is ${process.version}.`);
  console.error(
    'npm should have brought it (optional package node-<platform>): run `npm ci` again with network access,',
  );
  console.error('or install Node 24 yourself and put it first on PATH.');
  process.exit(1);
}
