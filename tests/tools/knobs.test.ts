import { describe, expect, it, test } from 'vitest';
import { queryText } from '../../dev/bench/knob.js';
import {
  knobHelp,
  knobsOf,
  leftToEngine,
  modeHelp,
  parseKnobs,
  readKnobs,
  suggestedMode,
} from '../../dev/bench/knobs.js';
import { modeNames, modeOf } from '../../dev/bench/modes.js';
import { tuningQuery } from '../../dev/bench/settings.js';
import { formatCaseAddress } from '../../dev/cases/address.js';
import { readAddress } from '../../dev/page/host.js';
import { median } from '../../src/calibrate/statistics.js';
import { tuningChoices, tuningRanges } from '../../src/msm/plan/tuning.js';

const parse = (query: string) => parseKnobs(new URLSearchParams(query));
const read = (query: string) => readKnobs(new URLSearchParams(query));
const casesOf = (query: string) => [...new Set(parse(query).cases.map(({ address }) => formatCaseAddress(address)))];

describe('a run opens a GPU', () => {
  it.each([
    ['autorun=msm-bench', true],
    ['autorun=msm-bench&backend=cpu', false],
    ['backend=cpu', false],
    ['autorun=msm-bench&backend=both', true],
    ['autorun=sweep&backend=cpu&workers=0,1', false],
    ['autorun=sweep&backend=cpu,gpu', true],
    ['autorun=accum-ab&a.backend=cpu&b.backend=gpu', true],
    ['autorun=accum-ab&backend=cpu&a.workers=1', false],
    ['autorun=msm-cross-check&backend=cpu', false],
    ['autorun=calibrate', true],
    ['autorun=field-bench', true],
  ])('by ?%s: %s', (query, isOpened) => {
    expect(parse(query).opensGpu).toBe(isOpened);
  });
});

test.each(modeNames)('the help of %s has its duration, and an example of its own knobs', (mode) => {
  const text = modeHelp(mode).join('\n');
  expect(text).toMatch(/With defaults it takes \d.* on two cores/);
  const { example } = modeOf(mode);
  for (const [, name = ''] of example.matchAll(/--([\w.]+)/g))
    expect(['op', 'phase', 'trace', ...knobsOf(mode)], name).toContain(name);
  for (const name of knobsOf(mode).filter((knob) => !knob.includes('.')))
    expect(knobHelp(mode, name), name).toMatch(/^[A-Z].*\.$/);
});

describe('an error names the knob whose field is wrong', () => {
  it.each([
    ['autorun=msm-bench&c=99', ['c']],
    ['autorun=msm-bench&walkerprv=1', ['walkerpriv']],
    ['autorun=msm-bnch', ['autorun']],
    ['autorun=accum-ab&a.c=99', ['a.c']],
    ['autorun=msm-bench&walkertpb=32,64&logn=x', ['walkertpb', 'logn']],
    ['autorun=msm-cross-check&case=nonsense', ['case']],
    ['autorun=msm-bench&scalars=rnd', ['scalars']],
    ['autorun=msm-bench&curve=bn25', ['curve']],
  ])('?%s: %j', (query, knobs) => {
    expect(read(query).problems.map(({ knob }) => knob)).toEqual(knobs);
  });
});

it('knobs with values are distinct from flags', () => {
  expect(leftToEngine(new URLSearchParams('walkerpriv&walkertpb&c=4&a.walkers&logn'))).toEqual([
    'walkertpb',
    'a.walkers',
  ]);
});

describe('the knobs of the page', () => {
  it('start nothing without a mode', () => {
    expect(parse('').mode).toBeNull();
    expect(parse('logn=10').mode).toBeNull();
  });

  it('choose the mode', () => {
    expect(casesOf('autorun=msm-bench&logn=3,4&n=5&seed=9')).toEqual([
      'points=distinct,scalars=random,n=5,seed=9',
      'points=distinct,scalars=random,n=8,seed=9',
      'points=distinct,scalars=random,n=16,seed=9',
    ]);
    expect(casesOf('autorun=msm-bench&n=7&points=pairs&scalars=all-equal')).toEqual([
      'points=pairs,scalars=all-equal,n=7,seed=1',
    ]);
    expect(casesOf('autorun=msm-cross-check&n=7&case=points%3Dpairs,scalars%3Drandom&case=core').length).toBe(7);
    expect(casesOf('autorun=msm-bench&n=7&curve=bls12-381&group=g2&encoding=zcash-compressed')).toEqual([
      'curve=bls12-381,group=g2,encoding=zcash-compressed,points=distinct,scalars=random,n=7,seed=1',
    ]);
  });

  it('load in the named encodings, each once', () => {
    expect(parse('autorun=loading')).toMatchObject({ encodings: ['le', 'ark-compressed'], reps: 5 });
    expect(casesOf('autorun=loading')).toEqual(['points=distinct,scalars=random,n=16384,seed=1']);
    const { encodings } = parse('autorun=loading&encodings=be,gnark-compressed,be');
    expect(encodings).toEqual(['be', 'gnark-compressed']);
  });

  it('tune the engine, and leave other options to it', () => {
    const [setting] = parse(
      'autorun=msm-bench&walkertpb=32&walkers=4&c=9&walkerpriv=0&precompute=3&budget=16&verify',
    ).settings;
    expect(setting).toEqual({
      name: 'walkerpriv=0, walkertpb=32, walkers=4, c=9, precompute=3, budget=16, verify=1',
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
      verify: true,
      checks: false,
      build: null,
      backend: null,
      workers: null,
      group: null,
    });
    expect(parse('autorun=msm-bench&cpubelow=50&checks=1').settings).toMatchObject([
      { tuning: { cpuBelow: 50 }, checks: true },
    ]);
    expect(parse('autorun=msm-bench').settings).toMatchObject([{ name: 'defaults', tuning: { cpuBelow: 0 } }]);
  });

  it('cover every knob of the engine, in its range', () => {
    for (const [key, [least, most]] of Object.entries(tuningRanges)) {
      for (const value of [least, most]) {
        const query = tuningQuery({ [key]: value });
        expect(parse(`autorun=msm-bench&${query}`).settings[0]?.tuning).toMatchObject({ [key]: value });
      }
      const beyond = tuningQuery({ [key]: most + 1 }).toString();
      expect(() => parse(`autorun=msm-bench&${beyond}`)).toThrow(String(most + 1));
    }
    for (const [key, words] of Object.entries(tuningChoices)) {
      for (const value of words) {
        const query = tuningQuery({ [key]: value });
        expect(parse(`autorun=msm-bench&${query}`).settings[0]?.tuning).toMatchObject({ [key]: value });
      }
    }
  });

  it('give A and B their own values, and common ones to both', () => {
    const { settings } = parse('autorun=accum-ab&a.walkerpriv=1&b.walkerpriv=0&b.c=8&walkers=4');
    expect(settings.map(({ name }) => name)).toEqual(['walkerpriv=1, walkers=4', 'walkerpriv=0, walkers=4, c=8']);
    // a side may overrule what both have
    expect(parse('autorun=accum-ab&c=8&b.c=9').settings.map(({ name }) => name)).toEqual(['c=8', 'c=9']);
    expect(parse('autorun=accum-ab&b.c=9').settings.map(({ name }) => name)).toEqual(['defaults', 'c=9']);
  });

  it('choose the group of a curve', () => {
    expect(casesOf('autorun=msm-bench&n=5&curve=bls12-381&group=g2')).toEqual([
      'curve=bls12-381,group=g2,points=distinct,scalars=random,n=5,seed=1',
    ]);
    expect(parse('autorun=msm-bench')).toMatchObject({ curve: 'bn254', group: 'g1', settings: [{ group: null }] });
    expect(parse('autorun=calibrate&group=g2')).toMatchObject({ curve: 'bn254', group: 'g2' });
    const inGroup = casesOf('autorun=msm-cross-check&n=5&group=g2&case=core');
    expect(inGroup).toHaveLength(6);
    for (const name of inGroup) expect(name).toMatch(/^group=g2,(encoding=ark-compressed,)?points=/);
    // each side of a comparison its own; the cases are those of both
    const sides = parse('autorun=accum-ab&b.group=g2&a.c=8&curve=bls12-377');
    expect(sides.settings.map(({ name, group }) => [name, group])).toEqual([
      ['c=8', null],
      ['group=g2', 'g2'],
    ]);
    expect(sides.cases.map(({ address: { group } }) => group)).toEqual(['g1']);
  });

  it('name a build if there are folders, and a page has none', () => {
    const query = new URLSearchParams('autorun=accum-ab&a.build=/some/where');
    expect(parseKnobs(query, 'terminal').settings).toMatchObject([
      { name: 'build=/some/where', build: '/some/where' },
      { name: 'defaults', build: null },
    ]);
    expect(() => parseKnobs(query)).toThrow('a.build: a page has no folders; use npm run bench for builds');
    expect(() => parse('autorun=proofs')).toThrow(
      'autorun: proofs runs in a terminal only, npm run bench -- proofs: it needs',
    );
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

  it('have defaults', () => {
    // a flag that is named is on, and any other knob without a value is as the engine has it
    const [setting] = parse('autorun=msm-bench&walkerpriv&walkertpb').settings;
    expect(setting).toEqual(parse('autorun=msm-bench&walkerpriv=1').settings[0]);
    expect(setting?.tuning).toEqual({ walkerPrefixMemory: 'private', cpuBelow: 0 });
    expect(parse('autorun=msm-bench&checks').settings[0]?.checks).toBe(true);
    for (const knob of ['walkertpb', 'c', 'fieldproduct', 'cpubelow', 'precompute', 'budget'])
      expect(parse(`autorun=msm-bench&${knob}=`).settings).toEqual(parse('autorun=msm-bench').settings);
    const { mode, settings, cases } = parse('autorun=msm-bench&walkerpriv&walkertpb=32&logn=10');
    expect({ mode, names: settings.map(({ name }) => name) }).toEqual({
      mode: 'msm-bench',
      names: ['walkerpriv=1, walkertpb=32'],
    });
    expect(cases.map(({ address }) => address.n)).toEqual([1024]);
    // of one side it overrules what both have
    expect(parse('autorun=accum-ab&c=8&b.c').settings.map(({ name }) => name)).toEqual(['c=8', 'defaults']);
    expect(parse('autorun=accum-ab&walkerpriv=0&a.walkerpriv').settings.map(({ name }) => name)).toEqual([
      'walkerpriv=1',
      'walkerpriv=0',
    ]);
  });

  it.each([
    ['', 'msm-bench'],
    ['walkerpriv&walkertpb', 'msm-bench'],
    ['walkertpb=32,64', 'sweep'],
    ['a.c=8', 'accum-ab'],
    ['case=core', 'msm-cross-check'],
    ['walkerpriv=turns', 'msm-cross-check'],
    ['chains=4', 'field-bench'],
    ['c=99', 'msm-bench'],
  ])('?%s would be for %s', (query, mode) => {
    expect(suggestedMode(new URLSearchParams(query))).toBe(mode);
    expect(read(query).knobs?.mode ?? null).toBeNull();
  });

  it('ignore unknown parameters of the query, and warn', () => {
    for (const name of ['utm_source', 'fbclid', 'gclid', 'ref', 'v', 't', 'lang', 'toString', 'a.toString', 'theme']) {
      const { knobs, problems, notes } = read(`autorun=msm-bench&logn=8&${name}=x`);
      expect({ problems, notes }).toEqual({ problems: [], notes: [expect.stringContaining(`${name} is not a knob`)] });
      expect(knobs).toEqual(parse('autorun=msm-bench&logn=8'));
    }
  });

  it.each([
    ['walkerprv', 'walkerpriv'],
    ['WALKERPRIV', 'walkerpriv'],
    ['walker_tpb', 'walkertpb'],
    ['walkre', 'walkers'],
    ['logN', 'logn'],
    ['lgn', 'logn'],
    ['rep', 'reps'],
    ['C', 'c'],
    ['autorn', 'autorun'],
    ['A.walkerpriv', 'a.walkerpriv'],
    ['b_walkerpriv', 'b.walkerpriv'],
    ['c.walkerpriv', 'a.walkerpriv or b.walkerpriv'],
    ['a.walkerprv', 'a.walkerpriv'],
    // as the library calls it
    ['windowBits', 'c'],
    ['walkerThreadsPerWorkgroup', 'walkertpb'],
  ])('?%s was meant as %s', (name, meant) => {
    expect(read(`${name}=1`)).toMatchObject({
      knobs: null,
      problems: [{ text: `${name}: no such knob; did you mean ${meant}?` }],
      notes: [],
    });
  });

  it('report all errors at once', () => {
    const wrong = 'autorun=msmbench&walkerprv=1&c=99&walkers=x&logn=8,99&reps=0&seed=-1&points=pear&utm_source=mail';
    const { problems, notes } = read(wrong);
    const begin = ['walkerprv', 'autorun', 'c', 'walkers', 'logn', 'seed', 'points', 'reps'];
    expect(problems.map(({ text }) => text.split(':')[0])).toEqual(begin);
    expect(problems[1]?.text).toContain('did you mean msm-bench?');
    expect(notes).toHaveLength(1);
    const lines = problems.map(({ text }) => text).join('\n');
    expect(() => parse(wrong)).toThrow(new RangeError(lines));
    // each value of a sweep for itself
    const sweep = read('autorun=sweep&c=8,99,x&walkerpriv=0,2').problems.map(({ text }) => text.slice(0, 14));
    expect(sweep).toEqual(['c: "99" is not', 'c: "x" is not ', 'walkerpriv: "2']);
  });

  it('suggest the sweep that takes a list', () => {
    const { problems } = read('autorun=msm-bench&logn=8&walkertpb=32,64&peers=none&walkerpriv');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.text).toContain('walkertpb: "32,64" is a list; autorun=msm-bench takes one value');
    const { instead } = problems[0] ?? {};
    // without the peers, which mean nothing to a sweep
    expect(instead && queryText(instead)).toBe('autorun=sweep&logn=8&walkertpb=32,64&walkerpriv=1');
    expect(parse(`${instead}`).settings).toHaveLength(2);
    const ofSide = read('autorun=accum-ab&a.c=8..9&b.c=7').problems;
    expect(ofSide.map((each) => each.instead && queryText(each.instead))).toEqual(['autorun=sweep&c=8..9']);
    // no link to what would be refused as well
    expect(read('autorun=msm-bench&c=8..99').problems.map((each) => each.instead)).toEqual([null]);
  });

  it('are read from the query, from the fragment, or from both', () => {
    const address = (search: string, hash: string) => `${readAddress({ search, hash })}`;
    const wanted = 'autorun=msm-bench&walkerpriv=&logn=10';
    for (const hash of ['#autorun=msm-bench&walkerpriv&logn=10', '#?autorun=msm-bench&walkerpriv&logn=10'])
      expect(address('', hash)).toBe(wanted);
    expect(address('?autorun=msm-bench', '#walkerpriv&logn=10')).toBe(wanted);
    expect(address('?logn=10&case=core', '#logn=12&c=9')).toBe('logn=10&case=core&c=9');
    expect(address('?case=core', '#case=all')).toBe('case=core');
    expect(address('', '#case=core&case=points%3Dpairs')).toBe('case=core&case=points%3Dpairs');
  });

  it.each([
    ['walkerprv=1', 'walkerprv'],
    ['autorun=bench', 'autorun: "bench"'],
    ['logn=23', 'logn: "23"'],
    ['logn=', 'logn: ""'],
    ['logn=8,,9', 'logn: ""'],
    ['logn=8&logn=9', 'logn: given more than once'],
    ['n=1e3', 'n: "1e3"'],
    ['reps=0', 'reps: "0"'],
    ['seed=-1', 'seed: "-1"'],
    ['walkerpriv=2', 'walkerpriv: "2"'],
    ['autorun=msm-bench&walkerpriv=turns', 'walkerpriv: "turns"'],
    ['autorun=msm-bench&walkertpb=32,64', 'walkertpb: "32,64"'],
    ['autorun=msm-bench&n=0', 'n: "0"'],
    ['autorun=msm-bench&peers=wasm', 'peers: "wasm"'],
    ['autorun=msm-bench&a.c=8', 'a.c: not used by autorun=msm-bench'],
    ['autorun=msm-bench&chains=4', 'chains: not used by'],
    ['autorun=field-bench&logn=4', 'logn: not used by'],
    ['autorun=calibrate&c=4', 'c: not used by'],
    ['autorun=accum-ab', 'A and B are equal'],
    ['autorun=accum-ab&c=8', 'A and B are equal'],
    ['autorun=accum-ab&a.logn=8', 'a.logn: A and B share this knob'],
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
    ['autorun=msm-bench&group=g3', 'group: "g3" is not g1 or g2'],
    ['autorun=msm-bench&curve=secp256k1&group=g2', 'group: secp256k1 has no g2; bn254, bls12-381, bls12-377 have one'],
    ['autorun=msm-cross-check&case=curve%3Dpallas,group%3Dg2', 'group: pallas has no g2'],
    ['autorun=msm-bench&encoding=zcash', 'encoding: "zcash" is not an encoding of bn254, g1; use le, be, '],
    ['autorun=msm-bench&encoding=aztec-compressed&points=all-infinity', 'which the encoding cannot express'],
    [
      'autorun=accum-ab&encoding=aztec-compressed&b.group=g2',
      'encoding: "aztec-compressed" is not an encoding of bn254, g2',
    ],
    ['autorun=loading&encoding=be', 'encoding: not used by autorun=loading'],
    ['autorun=loading&n=0', 'n: "0"'],
    ['autorun=loading&curve=p256&encodings=le,gnark', 'encodings: "gnark" is not an encoding of p256, g1'],
    ['autorun=field-bench&encoding=be', 'encoding: not used by'],
    ['autorun=accum-ab&b.group=G2', 'b.group: "G2" is not g1 or g2'],
    ['autorun=accum-ab&curve=vesta&b.group=g2', 'group: vesta has no g2'],
    ['autorun=msm-bench&a.group=g2', 'a.group: not used by autorun=msm-bench'],
    ['autorun=sweep&group=g1,g2', 'group: "g1,g2" is not g1 or g2'],
    ['autorun=field-bench&group=g2', 'group: not used by'],
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
