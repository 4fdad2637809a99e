/**
 * The surrogates of one token: value and slope at a ratio, as in the Python module `grpo_ref.surrogates`, which
 * explains each one and names its source. Tests compare the two on a grid.
 *
 * A completion has one token, so the ratio of a sequence is that of its token. The vocabulary has two tokens: this
 * one, which had probability 0.2 when it was sampled, and "any other".
 */

/** What a token adds to the objective, and the derivative with respect to its log-probability. */
export interface Point {
  value: number;
  slope: number;
}

type Settings = Record<string, number>;
type Surrogate = (ratio: number, advantage: number, settings: Settings) => Point;

/** Probability of the token when it was sampled. */
const OLD = 0.2;
const VESPO = { log_weight: [-18.420680743952367, 20] } as const;

const within = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
const logProb = (ratio: number) => Math.log(ratio * OLD);

/** Return a surrogate whose derivative treats the weight as a constant. */
function weighted(ratio: number, weight: number): Point {
  return { value: weight * logProb(ratio), slope: weight };
}

function clipped(ratio: number, advantage: number, { clip_low, clip_high }: Settings): Point {
  const isTooHigh = advantage > 0 && ratio > 1 + clip_high;
  const isTooLow = advantage < 0 && ratio < 1 - clip_low;
  if (isTooHigh || isTooLow) return { value: within(ratio, 1 - clip_low, 1 + clip_high) * advantage, slope: 0 };
  return importanceWeighted(ratio, advantage);
}

function dualClipped(ratio: number, advantage: number, settings: Settings): Point {
  const { max_ratio } = settings;
  if (advantage <= 0 && ratio > max_ratio) return { value: max_ratio * advantage, slope: 0 };
  return clipped(ratio, advantage, settings);
}

function twoSidedClipped(ratio: number, advantage: number, { clip_low, clip_high, max_ratio }: Settings): Point {
  const inner = { clip_low, clip_high: Math.min(clip_high, max_ratio - 1) };
  return dualClipped(ratio, advantage, { ...inner, max_ratio: Math.max(1 + clip_high, max_ratio) });
}

function geometricMeanClipped(ratio: number, advantage: number, { clip_low, clip_high }: Settings): Point {
  const logRatio = Math.log(ratio);
  const isClipped = (advantage > 0 && logRatio > clip_high) || (advantage < 0 && logRatio < -clip_low);
  const value = (isClipped ? Math.exp(within(logRatio, -clip_low, clip_high)) : ratio) * advantage;
  return { value, slope: isClipped ? 0 : value };
}

function cispo(ratio: number, advantage: number, { min_ratio, max_ratio }: Settings): Point {
  return weighted(ratio, within(ratio, min_ratio, max_ratio) * advantage);
}

function sapo(ratio: number, advantage: number, { tau_positive, tau_negative }: Settings): Point {
  const tau = advantage > 0 ? tau_positive : tau_negative;
  const gate = 1 / (1 + Math.exp(-tau * (ratio - 1)));
  return { value: (4 / tau) * gate * advantage, slope: 4 * gate * (1 - gate) * ratio * advantage };
}

function vespo(ratio: number, advantage: number, settings: Settings): Point {
  const isPositive = advantage >= 0;
  const k = isPositive ? settings.k_positive : settings.k_negative;
  const rate = isPositive ? settings.lambda_positive : settings.lambda_negative;
  const logWeight = within(Math.log(ratio), ...VESPO.log_weight);
  return weighted(ratio, Math.exp(k * logWeight + rate * (1 - Math.exp(logWeight))) * advantage);
}

/** Return the surrogate of DPPO: no slope once the policies differ too much and the token moves further away. */
function masked(ratio: number, advantage: number, divergence: number, settings: Settings): Point {
  const { low, high, max_ratio, min_ratio = 0 } = settings;
  const isTooHigh = advantage > 0 && ratio > 1 && divergence > high;
  const isTooLow = advantage <= 0 && ratio < 1 && divergence > low;
  return weighted(ratio, isTooHigh || isTooLow ? 0 : within(ratio, min_ratio, max_ratio) * advantage);
}

/** Return the total variation of the two policies, which differ in one token and in "any other". */
function totalVariation(ratio: number): number {
  return OLD * Math.abs(ratio - 1);
}

/** Return KL(old || new). */
function divergenceOf(ratio: number): number {
  const [now, other] = [ratio * OLD, 1 - OLD];
  return other * Math.log(other / (1 - now)) - OLD * Math.log(ratio);
}

const dppoTv: Surrogate = (ratio, advantage, settings) => masked(ratio, advantage, totalVariation(ratio), settings);
const dppoKl: Surrogate = (ratio, advantage, settings) => masked(ratio, advantage, divergenceOf(ratio), settings);

function topr(ratio: number, advantage: number, { positive_weight, negative_weight }: Settings): Point {
  return weighted(ratio, (advantage > 0 ? positive_weight : negative_weight * Math.min(ratio, 1)) * advantage);
}

function squaredRatio(ratio: number, advantage: number, { beta }: Settings): Point {
  const [plain, logRatio] = [weighted(ratio, advantage), Math.log(ratio)];
  return { value: plain.value - 0.5 * beta * logRatio ** 2, slope: plain.slope - beta * logRatio };
}

function importanceWeighted(ratio: number, advantage: number): Point {
  return { value: ratio * advantage, slope: ratio * advantage };
}

function rolloutIs(ratio: number, advantage: number, { clip_low, clip_high }: Settings): Point {
  return weighted(ratio, ratio > 1 - clip_low && ratio < 1 + clip_high ? ratio * advantage : 0);
}

const SURROGATES: Record<string, Surrogate> = {
  clipped,
  dual_clipped: dualClipped,
  two_sided_clipped: twoSidedClipped,
  geometric_mean_clipped: geometricMeanClipped,
  gspo_token: clipped,
  cispo,
  sapo,
  vespo,
  dppo_tv: dppoTv,
  dppo_kl: dppoKl,
  dppo_top_tv: dppoTv,
  dppo_top_kl: dppoKl,
  reinforce: weighted,
  topr,
  squared_ratio: squaredRatio,
  importance_weighted: importanceWeighted,
  rollout_is: rolloutIs,
};

/**
 * Return the point of a surrogate at a ratio; null for one that compares the tokens of a batch.
 *
 * @param kernel - its name in `grpo_ref.surrogates`
 * @param settings - all its settings
 * @param ratio - πθ/πold of the token, above 0 and below 5
 */
export function point(kernel: string, settings: Settings, ratio: number, advantage: number): Point | null {
  return SURROGATES[kernel]?.(ratio, advantage, settings) ?? null;
}
