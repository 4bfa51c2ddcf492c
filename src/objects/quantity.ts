// Quantities are compared by value: the API server stores `1000m` as `1` and `1024Mi` as `1Gi`.

const suffixes: Record<string, [base: bigint, power: number]> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  '': [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$/;

/** The value in billionths, rounded away from zero as the API server does; undefined when it is no quantity. */
export function quantityOf(text: string | number): bigint | undefined {
  const match = form.exec(String(text));
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const [base, power] = exponent === undefined ? (suffixes[suffix] ?? [10n, 0]) : [10n, Number(exponent)];
  const digits = BigInt(whole + fraction);
  const scaled = scale(digits, [
    [base, power],
    [10n, 9 - fraction.length],
  ]);
  return sign === '-' ? -scaled : scaled;
}

/** Multiplies before it divides, so that nothing is lost on the way. */
function scale(digits: bigint, factors: [base: bigint, power: number][]): bigint {
  let over = digits;
  let under = 1n;
  for (const [base, power] of factors) {
    if (power >= 0) over *= base ** BigInt(power);
    else under *= base ** BigInt(-power);
  }
  return (over + under - 1n) / under;
}

/** Whether two texts are the same amount of a resource: of a pod, or of a volume, the API server keeps no less than thousandths. */
export function sameAmount(a: string | number, b: string | number): boolean {
  const [one, other] = [a, b].map((text) => {
    const billionths = quantityOf(text);
    return billionths === undefined ? undefined : (billionths + 999_999n) / 1_000_000n;
  });
  return one !== undefined && one === other;
}

/** Whether two texts are the same quantity. */
export function sameQuantity(a: string | number, b: string | number): boolean {
  const value = quantityOf(a);
  return value !== undefined && value === quantityOf(b);
}
