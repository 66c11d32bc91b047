// 95 % intervals of means by Student's t, of the same kind as those of the claims (src/cli/cmd/paper_claims.c).

// The probability that Student's t of n degrees of freedom lies between -t and t: a finite sum for a whole n.
function within(t, n) {
  const angle = Math.atan(t / Math.sqrt(n)),
    square = Math.cos(angle) ** 2,
    odd = n % 2;
  let term = odd ? Math.cos(angle) : 1,
    sum = n > 1 ? term : 0;
  for (let k = odd ? 2 : 1; k <= n - 3; k += 2) sum += term *= (square * k) / (k + 1);
  return odd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

// The t that holds 95 %.
export function student(n) {
  let low = 0,
    high = 13;
  for (let i = 0; i < 60; i++) {
    const t = (low + high) / 2;
    if (within(t, n) < 0.95) low = t;
    else high = t;
  }
  return low;
}

const KINDS = {
  geometric: [Math.log, Math.exp],
  arithmetic: [(x) => x, (x) => x],
  harmonic: [(x) => 1 / x, (x) => 1 / x],
};

// [low, high] of the mean of values; undefined of one value, of extremes, and of values that the mean cannot have.
export function spread(values, of = "geometric") {
  const [into, back] = KINDS[of] ?? [];
  if (!into || values.length < 2 || (of !== "arithmetic" && values.some((x) => !(x > 0)))) return undefined;
  const v = values.map(into),
    n = v.length,
    mean = v.reduce((s, x) => s + x, 0) / n,
    deviation = Math.sqrt(v.reduce((s, x) => s + (x - mean) ** 2, 0) / (n - 1)),
    half = (student(n - 1) * deviation) / Math.sqrt(n);
  const ends = [back(mean - half), back(mean + half)].sort((a, b) => a - b);
  return of === "harmonic" && mean - half <= 0 ? undefined : ends;
}
