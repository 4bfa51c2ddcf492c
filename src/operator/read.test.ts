import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { nearest } from './nearest.ts';
import { type Asked, readSettings } from './read.ts';
import { flagOf, settingList, type Settings, variableOf } from './settings.ts';

interface World {
  args?: string[];
  env?: Record<string, string>;
  file?: string;
}

/** With a file it is named by the flag, unless something else names it. */
const asked = ({ args = [], env = {}, file }: World): Asked =>
  readSettings({
    args: file === undefined ? args : ['--config=conf.yaml', ...args],
    env,
    read: (path) => {
      if (file === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
      return file;
    },
  });

function settled(world: World): Settings {
  const result = asked(world);
  if ('run' in result) return result.run;
  throw new Error(JSON.stringify(result));
}

function wrong(world: World): string {
  const result = asked(world);
  ok('wrong' in result, JSON.stringify(result));
  return result.wrong.join('\n');
}

describe('where a setting comes from', () => {
  const [flag, variable, file] = [['--workers=2'], { BATON_WORKERS: '3' }, 'workers: 4'];

  test('a flag goes before a variable, a variable before the file, the file before the default', () =>
    deepEqual(
      [
        settled({ args: flag, env: variable, file }),
        settled({ env: variable, file }),
        settled({ file }),
        settled({}),
      ].map(({ workers }) => workers),
      [2, 3, 4, 8],
    ));

  test('the last of a repeated flag counts, with or without an equals sign', () =>
    equal(settled({ args: ['--workers=2', '--workers', '5'] }).workers, 5));

  test('a variable may name the file', () => {
    const result = readSettings({
      args: [],
      env: { BATON_CONFIG: '/etc/baton/config.yaml' },
      read: (path) => `leaseName: "${path}"`,
    });
    ok('run' in result);
    equal(result.run.leaseName, '/etc/baton/config.yaml');
  });

  test('an empty variable is not set, and a file of comments sets nothing', () =>
    equal(settled({ env: { BATON_WORKERS: '' }, file: '# workers: 3\n' }).workers, 8));

  test('a key without a value in the file is not set', () => equal(settled({ file: 'workers:\n' }).workers, 8));

  test('every setting can be given in all three ways', () => {
    const samples: Record<string, string> = {
      leaderElection: 'off',
      workers: '7',
      healthAddress: ':0',
      logLevel: 'warn',
      logFormat: 'json',
      frameworks: '{"onnx": {"image": "mine:1"}}',
      imageVolumes: 'off',
      egressDeny: '10.0.0.0/8,fd00::/8',
      exposure: 'LoadBalancer',
      exposureDomain: 'models.example.com',
      exposureTls: 'on',
      exposureAnnotations: '{"a": "b"}',
      gateway: 'edge/shared/https',
    };
    const hosted = ['--exposure=Ingress', '--exposure-domain=models.example.com'];
    /** What a setting has an effect with. */
    const company: Record<string, string[]> = {
      exposureDomain: ['--exposure=Ingress'],
      exposureTls: hosted,
      ingressClass: hosted,
      gateway: ['--exposure=Gateway', '--exposure-domain=models.example.com'],
    };
    for (const [key] of settingList.filter(([name]) => name !== 'config')) {
      const value = samples[key] ?? 'some';
      const args = company[key] ?? [];
      const ways = [
        settled({ args: [...args, `--${flagOf(key)}=${value}`] }),
        settled({ args, env: { [variableOf(key)]: value } }),
        { ...settled({ args, file: JSON.stringify({ [key]: value }) }), config: undefined },
      ];
      deepEqual(ways[0], ways[1]);
      deepEqual(ways[0], ways[2]);
    }
  });
});

describe('forms', () => {
  test('a range of addresses that is none is refused, with how one is written', () => {
    deepEqual(settled({ file: 'egressDeny: [10.0.0.0/8, "10.0.0.1:6443"]' }).egressDeny, [
      '10.0.0.0/8',
      '10.0.0.1:6443',
    ]);
    match(wrong({ args: ['--egress-deny=10.0.0.0/8,tomorrow'] }), /--egress-deny: "tomorrow" is no range/);
  });

  test('namespaces are a list in the file and joined by commas elsewhere', () =>
    deepEqual(
      [settled({ file: 'namespaces: [a, b]' }), settled({ args: ['--namespaces=a, b,,a'] })].map(
        ({ namespaces }) => namespaces,
      ),
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    ));

  const addresses: [string, unknown][] = [
    [':8081', { host: '', port: 8081 }],
    ['0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['off', 'off'],
  ];
  for (const [given, read] of addresses)
    test(`the address ${given}`, () => deepEqual(settled({ args: [`--health-address=${given}`] }).healthAddress, read));

  test('frameworks are changed field by field', () =>
    deepEqual(settled({ file: 'frameworks: { tensorflow: { image: "mine:2" } }' }).frameworks, {
      tensorflow: { image: 'mine:2' },
    }));
});

describe('what is wrong is said with its place', () => {
  const rows: { name: string; world: World; says: RegExp }[] = [
    { name: 'a flag', world: { args: ['--worker=3'] }, says: /^--worker is no flag; did you mean --workers\?$/ },
    { name: 'a switch', world: { args: ['--leaderelection=on'] }, says: /did you mean --leader-election\?/ },
    { name: 'a flag that nothing is near to', world: { args: ['--colour=red'] }, says: /^--colour is no flag$/ },
    { name: 'a flag without a value', world: { args: ['--workers'] }, says: /^--workers needs a value/ },
    { name: 'a word', world: { args: ['start'] }, says: /^"start" is not expected/ },
    {
      name: 'a variable',
      world: { env: { BATON_NAMESPACE: 'a' } },
      says: /^the variable BATON_NAMESPACE is no setting; did you mean BATON_NAMESPACES\?$/,
    },
    {
      name: 'a key of the file',
      world: { file: 'logLevl: debug' },
      says: /^conf\.yaml: logLevl is no setting; did you mean logLevel\?$/,
    },
    { name: 'a file in a file', world: { file: 'config: other.yaml' }, says: /^conf\.yaml: config is no setting/ },
    {
      name: 'a number',
      world: { args: ['--workers=many'] },
      says: /^--workers: must be a whole number from 1 to 256$/,
    },
    { name: 'a number out of bounds', world: { file: 'workers: 0' }, says: /^conf\.yaml: workers: must be/ },
    { name: 'a choice', world: { env: { BATON_LOG_LEVEL: 'loud' } }, says: /^BATON_LOG_LEVEL: must be debug or info/ },
    { name: 'an address', world: { args: ['--health-address=8081'] }, says: /must be host:port/ },
    { name: 'a namespace', world: { args: ['--namespaces=a,B_'] }, says: /"B_" is not a name/ },
    { name: 'a missing file', world: { args: ['--config=none'] }, says: /^none: cannot be read \(ENOENT\)$/ },
    { name: 'a file that is none', world: { file: 'a: [' }, says: /^conf\.yaml: is not YAML/ },
    { name: 'a list as file', world: { file: '- workers' }, says: /^conf\.yaml: is not YAML or JSON with one setting/ },
    {
      name: 'a framework',
      world: { file: 'frameworks: { tensorflo: {} }' },
      says: /frameworks: there is no framework "tensorflo"; did you mean tensorflow\?/,
    },
    {
      name: 'a field of a framework',
      world: { file: 'frameworks: { onnx: { imgae: x } }' },
      says: /frameworks: onnx: .*imgae/,
    },
    {
      name: 'a value that another way overrides',
      world: { args: ['--workers=2'], env: { BATON_WORKERS: 'x' } },
      says: /^BATON_WORKERS: must be/,
    },
  ];
  for (const { name, world, says } of rows) test(name, () => match(wrong(world), says));

  test('everything at once', () =>
    equal(wrong({ args: ['--x=1', '--workers=0'], env: { BATON_Y: '1' } }).split('\n').length, 3));

  test('a variable of the control plane is none of ours', () =>
    equal(settled({ env: { BATON_CACHE: '/x' } }).workers, 8));
});

describe('being asked', () => {
  test('help and version are told whatever else is there', () =>
    deepEqual(
      [asked({ args: ['--nonsense', '--help'] }), asked({ args: ['-h'] }), asked({ args: ['--version'] })],
      [{ tell: 'help' }, { tell: 'help' }, { tell: 'version' }],
    ));
});

describe('the nearest name', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), minLength: 4, maxLength: 12 });

  test('a known name is nearest to itself', () =>
    fc.assert(fc.property(letters, fc.array(letters), (name, others) => nearest(name, [...others, name]) === name)));

  test('one slip of the finger is always found', () =>
    fc.assert(
      fc.property(letters, fc.nat(), (name, at) => {
        const place = at % name.length;
        const slips = [
          name.slice(0, place) + name.slice(place + 1),
          `${name.slice(0, place)}x${name.slice(place)}`,
          `${name.slice(0, place)}x${name.slice(place + 1)}`,
        ];
        return slips.every((slip) => nearest(slip, ['completely-different', name]) === name);
      }),
    ));
});
