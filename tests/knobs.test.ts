import { describe, expect, it } from 'vitest';
import { parseKnobs } from '../dev/bench/knobs.js';
import { tuningQuery } from '../dev/bench/settings.js';
import { median } from '../dev/bench/statistics.js';
import { formatCaseAddress } from '../dev/cases/address.js';
import { tuningChoices, tuningRanges } from '../src/plan/tuning.js';

const parse = (query: string) => parseKnobs(new URLSearchParams(query));
const casesOf = (query: string) => [...new Set(parse(query).cases.map(({ address }) => formatCaseAddress(address)))];

describe('the knobs of the page', () => {
  it('start nothing by themselves', () => {
    expect(parse('').mode).toBeNull();
    expect(parse('logn=10').mode).toBeNull();
  });

  it('choose what is run', () => {
    expect(casesOf('autorun=msm-bench&logn=3,4&n=5&seed=9')).toEqual([
      'points=distinct,scalars=random,n=5,seed=9',
      'points=distinct,scalars=random,n=8,seed=9',
      'points=distinct,scalars=random,n=16,seed=9',
    ]);
    expect(casesOf('autorun=msm-bench&n=7&points=pairs&scalars=all-equal')).toEqual([
      'points=pairs,scalars=all-equal,n=7,seed=1',
    ]);
    expect(casesOf('autorun=msm-cross-check&n=7&case=points%3Dpairs,scalars%3Drandom&case=core').length).toBe(6);
  });

  it('tune the engine, and leave to it what they do not name', () => {
    const [setting] = parse(
      'autorun=msm-bench&walkertpb=32&walkers=4&c=9&walkerpriv=0&precompute=3&budget=16',
    ).settings;
    expect(setting).toEqual({
      name: 'walkerpriv=0, walkertpb=32, walkers=4, c=9, precompute=3, budget=16',
      tuning: {
        walkerPrefixMemory: 'workgroup',
        walkerThreadsPerWorkgroup: 32,
        walkerSlots: 4,
        windowBits: 9,
        // the page is about the GPU
        cpuBelow: 0,
      },
      precompute: 3,
      memoryBudget: 16 * 2 ** 20,
    });
    expect(parse('autorun=msm-bench&cpubelow=50&checks=1').settings).toMatchObject([
      { tuning: { cpuBelow: 50, checks: true } },
    ]);
    expect(parse('autorun=msm-bench').settings).toMatchObject([{ name: 'defaults', tuning: { cpuBelow: 0 } }]);
  });

  it('have one for every knob of the engine, in its range', () => {
    for (const [key, [least, most]] of Object.entries(tuningRanges)) {
      for (const value of [least, most]) {
        const query = tuningQuery({ [key]: value });
        expect(parse(`autorun=msm-bench&${query}`).settings[0]?.tuning).toMatchObject({ [key]: value });
      }
      const beyond = tuningQuery({ [key]: most + 1 }).toString();
      expect(() => parse(`autorun=msm-bench&${beyond}`)).toThrow(String(most + 1));
    }
    for (const [key, words] of Object.entries({ ...tuningChoices, checks: [true, false] })) {
      for (const value of words) {
        const query = tuningQuery({ [key]: value });
        expect(parse(`autorun=msm-bench&${query}`).settings[0]?.tuning).toMatchObject({ [key]: value });
      }
    }
  });

  it('give A and B each its own, and both what has no side', () => {
    const { settings } = parse('autorun=accum-ab&a.walkerpriv=1&b.walkerpriv=0&b.c=8&walkers=4');
    expect(settings.map(({ name }) => name)).toEqual(['walkerpriv=1, walkers=4', 'walkerpriv=0, walkers=4, c=8']);
    // a side may overrule what both have
    expect(parse('autorun=accum-ab&c=8&b.c=9').settings.map(({ name }) => name)).toEqual(['c=8', 'c=9']);
    expect(parse('autorun=accum-ab&b.c=9').settings.map(({ name }) => name)).toEqual(['defaults', 'c=9']);
  });

  it('make every combination of a sweep', () => {
    const { settings } = parse('autorun=sweep&walkertpb=32,64&c=8..10');
    expect(settings.map(({ name }) => name)).toEqual(
      [8, 9, 10].flatMap((c) => [32, 64].map((threads) => `walkertpb=${threads}, c=${c}`)),
    );
    expect(parse('autorun=sweep&walkerpriv=0,1').settings.map(({ tuning }) => tuning.walkerPrefixMemory)).toEqual([
      'workgroup',
      'private',
    ]);
  });

  it('take ranges of sizes', () => {
    const sizes = parse('autorun=sweep&logn=3..5,7').cases.map(({ address }) => address.n);
    expect(sizes).toEqual([8, 16, 32, 128]);
    // each once
    expect(parse('autorun=sweep&walkertpb=16,16..17').settings).toHaveLength(2);
    expect(parse('autorun=msm-bench&peers=noble,noble').peers).toEqual(['noble']);
  });

  it('check both placements of the scratch, and time one', () => {
    const placements = (query: string) => parse(query).cases.map(({ placement }) => placement);
    expect(placements('autorun=msm-cross-check&n=5')).toEqual(['workgroup', 'private']);
    expect(placements('autorun=msm-cross-check&n=5&walkerpriv=1')).toEqual(['private']);
    expect(placements('autorun=msm-bench')).toEqual([undefined]);
    expect(placements('autorun=msm-bench&walkerpriv=0')).toEqual([undefined]);
    // one of the two for each case, and each of the two for half of the cases
    const turns = placements('autorun=msm-cross-check&case=all&walkerpriv=turns');
    expect(turns).toHaveLength(11 * 14 * 12);
    expect(turns.filter((placement) => placement === 'private')).toHaveLength((11 * 14 * 12) / 2);
  });

  it.each([
    ['walkerprv=1', '"walkerprv"'],
    ['toString=1', '"toString"'],
    ['autorun=bench', 'autorun: "bench"'],
    ['logn=23', 'logn: "23"'],
    ['logn=', 'logn: ""'],
    ['logn=8,,9', 'logn: ""'],
    ['logn=8&logn=9', 'logn: given more than once'],
    ['n=1e3', 'n: "1e3"'],
    ['reps=0', 'reps: "0"'],
    ['seed=-1', 'seed: "-1"'],
    ['walkerpriv=2', 'walkerpriv: "2"'],
    ['autorun=msm-bench&walkerpriv=turns', 'walkerpriv: turns'],
    ['autorun=msm-bench&walkertpb=32,64', 'walkertpb: "32,64"'],
    ['autorun=msm-bench&n=0', 'n: "0"'],
    ['autorun=msm-bench&peers=wasm', 'peers: "wasm"'],
    ['autorun=msm-bench&a.c=8', 'a.c: means nothing to autorun=msm-bench'],
    ['autorun=msm-bench&chains=4', 'chains: means nothing'],
    ['autorun=field-bench&logn=4', 'logn: means nothing'],
    ['autorun=calibrate&c=4', 'c: means nothing'],
    ['autorun=accum-ab', 'A and B are the same'],
    ['autorun=accum-ab&c=8', 'A and B are the same'],
    ['autorun=accum-ab&a.logn=8', 'a.logn: the same for A and B'],
    ['autorun=accum-ab&a.walkerprv=1', 'a.walkerprv'],
    ['autorun=accum-ab&b.c=17', 'c: "17"'],
    ['autorun=sweep&walkertpb=1..65', 'walkertpb: "1..65" is more than 64'],
    ['autorun=sweep&walkertpb=9..8', 'walkertpb: "9..8" runs backwards'],
    ['autorun=sweep&walkertpb=1..9&walkers=1..9', 'more than 64 settings'],
    ['autorun=sweep&walkerpriv=0,2', 'walkerpriv: "2"'],
    ['logn=8..99', 'logn: "8..99"'],
    ['walkertpb=abc', 'walkertpb: "abc"'],
    ['walkers=0', 'walkers: "0"'],
    ['c=17', 'c: "17"'],
    ['scalars=rnd', '"rnd"'],
    ['points=pear', '"pear"'],
    ['autorun=msm-bench&case=core', 'case: '],
    ['autorun=msm-cross-check&case=core&points=pairs', 'points: '],
    ['autorun=msm-cross-check&case=cores', '"cores"'],
  ])('?%s is refused by name', (query, named) => {
    expect(() => parse(query)).toThrow(RangeError);
    expect(() => parse(query)).toThrow(named);
  });
});

it('the median is the middle value', () => {
  expect(median([])).toBeNull();
  expect(median([3])).toBe(3);
  expect(median([10, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
});
