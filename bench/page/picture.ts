// A picture of the models part: one bar for each contestant in each of a few figures. Plain SVG without a script or a font of
// its own, so that it shows wherever a picture does.

import type { Figure } from '../figures.ts';
import { names } from '../models/contestants.ts';
import { figure } from '../table.ts';

/** What is drawn, each in a panel of its own. */
const panels = ['time to Ready', 'CPU of the whole cluster', 'own CPU', 'peak memory', 'requests a model'] as const;

const bar = { height: 16, gap: 6, left: 120, width: 330, text: 80 };
const head = 30;
const colours = { ours: '#2f6fb0', other: '#9aa4af' };

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A whole picture. */
export function picture(figures: readonly Figure[]): string {
  const drawn = panels.map((title) => panel(title, figures)).filter(({ height }) => height > 0);
  const tops = drawn.map((_, index) => drawn.slice(0, index).reduce((sum, { height }) => sum + height, 0));
  const height = drawn.reduce((sum, one) => sum + one.height, 0);
  const width = bar.left + bar.width + bar.text;
  const body = drawn.map(({ text }, index) => `<g transform="translate(0 ${tops[index]})">${text}</g>`).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
${body}
</svg>
`;
}

function panel(title: string, figures: readonly Figure[]): { text: string; height: number } {
  const found = names.flatMap((name) => {
    const one = figures.find((each) => each.name === `models: ${title}, ${name}`);
    return one ? [{ name, value: one.value, unit: one.unit }] : [];
  });
  if (found.length === 0) return { text: '', height: 0 };
  const most = Math.max(...found.map(({ value }) => value));
  const unit = found[0]?.unit ?? '1';
  const bars = found.map(({ name, value }, index) => {
    const y = head + index * (bar.height + bar.gap);
    const length = most === 0 ? 0 : (value / most) * bar.width;
    const colour = name.startsWith('Baton') ? colours.ours : colours.other;
    return [
      `<text x="${bar.left - 8}" y="${y + 12}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${bar.left}" y="${y}" width="${length.toFixed(1)}" height="${bar.height}" fill="${colour}"/>`,
      `<text x="${(bar.left + length + 6).toFixed(1)}" y="${y + 12}">${figure(value)}</text>`,
    ].join('');
  });
  const label = escaped(unit === '1' ? title : `${title}, ${unit}`);
  const text = `<text x="8" y="20" font-weight="bold">${label}</text>\n${bars.join('\n')}`;
  return { text, height: head + found.length * (bar.height + bar.gap) + 8 };
}
