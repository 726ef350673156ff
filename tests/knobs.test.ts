import { describe, expect, it } from 'vitest';
import { formatCaseAddress } from '../dev/cases/address.js';
import { parseKnobs } from '../dev/page/knobs.js';
import { median } from '../dev/page/statistics.js';

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
    expect(parse('autorun=msm-bench&walkertpb=32&walkers=4&c=9').tuning).toEqual({
      walkerThreadsPerWorkgroup: 32,
      walkerSlots: 4,
      windowBits: 9,
      // the page is about the GPU
      cpuBelow: 0,
    });
    expect(parse('autorun=msm-bench&cpubelow=50&checks=1').tuning).toEqual({ cpuBelow: 50, checks: true });
  });

  it('check both placements of the scratch, and time one', () => {
    const placements = (query: string) => parse(query).cases.map(({ placement }) => placement);
    expect(placements('autorun=msm-cross-check&n=5')).toEqual(['workgroup', 'private']);
    expect(placements('autorun=msm-cross-check&n=5&walkerpriv=1')).toEqual(['private']);
    expect(placements('autorun=msm-bench')).toEqual([undefined]);
    expect(placements('autorun=msm-bench&walkerpriv=0')).toEqual(['workgroup']);
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
