// `node bench/page/main.ts`: puts the figures of build/bench.json into docs/bench.md, between its marks, and beside it as
// docs/bench.svg. Run after a bench whose figures are worth keeping.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Figure } from '../figures.ts';
import { picture } from './picture.ts';
import { filled } from './fill.ts';
import { contestantsTable, goalsTable } from './table.ts';

const root = join(import.meta.dirname, '..', '..');

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(root, 'build', 'bench.json') },
    page: { type: 'string', default: join(root, 'docs', 'bench.md') },
  },
});
const figures = JSON.parse(readFileSync(values.from, 'utf8')) as Figure[];
const page = readFileSync(values.page, 'utf8');
const texts = { contestants: contestantsTable(figures), goals: goalsTable(figures) };
writeFileSync(values.page, filled(page, texts));
writeFileSync(values.page.replace(/\.md$/, '.svg'), picture(figures));
