/**
 * Table of failures: causes, stages and outcomes. Files tests/resilience/failures*.test.ts prove
 * each stage of each row with a test, and docs/reference/failures.md is generated from the rows. A
 * row says nothing that its tests do not assert.
 */
import { table } from '../../scripts/docs/markdown.js';
import type { MsmErrorCode } from '../../src/index.js';

/** Outcomes of the call after the one that failed. */
const nextCalls = {
  right: 'is right',
  anew: 'is right, on a new device',
  moved: 'is right, on a new device that the bases were moved to',
  reloaded: 'is right once the bases are loaded again',
  same: 'fails in the same way',
  none: 'there is no engine',
} as const;
export type NextCall = keyof typeof nextCalls;

export interface Row {
  readonly fault: string;
  /** Where it strikes; a test each. */
  readonly stages: readonly string[];
  /** Code of the error; null if the call returns the right result. */
  readonly code: MsmErrorCode | null;
  /** In the message of the error: what happened, or what to do. */
  readonly says: string;
  readonly next: NextCall;
}

export interface Section {
  readonly title: string;
  /** The file that has a test for every stage of every row. */
  readonly file: string;
  readonly text: string;
  readonly rows: Readonly<Record<string, Row>>;
}

/** Moments of a job (an import or an MSM), in order. */
const untilMapped = [
  'before compiling',
  'while compiling',
  'after compiling',
  'while allocating',
  'before the upload',
  'during the upload',
  'after the upload',
  'while encoding',
  'after encoding',
  'right after the submit',
  'before the map',
  'during the map',
] as const;
export type Moment = (typeof untilMapped)[number] | 'after the map';

const within = <Call extends string, Stage extends string>(call: Call, stages: readonly Stage[]) =>
  stages.map((stage) => `${call}: ${stage}` as const);

const lost = {
  title: 'The device is lost',
  file: 'tests/resilience/failures-loss.test.ts',
  text:
    'The driver was reset, the browser took the GPU away, or somebody called `device.destroy()`. “Lost” is tested with a device that is ' +
    'destroyed, and with one that is taken away, where the loss is announced at once or a moment late.',
  rows: {
    inImport: {
      fault: 'the device of the engine is lost while it loads bases',
      stages: within('loadBases', untilMapped),
      code: 'device-lost',
      says: 'call again',
      next: 'anew',
    },
    inMsm: {
      fault: 'the device of the engine is lost while it computes',
      stages: within('msm', untilMapped),
      code: 'device-lost',
      says: 'call again',
      next: 'moved',
    },
    afterImport: {
      fault: 'the device is taken away when the GPU has checked the bases',
      stages: within('loadBases', ['after the map']),
      code: null,
      says: '',
      next: 'moved',
    },
    afterMsm: {
      fault: 'the device is taken away when the result is there',
      stages: within('msm', ['after the map']),
      code: null,
      says: '',
      next: 'moved',
    },
    destroyedAfterImport: {
      fault: 'the device is destroyed when the GPU has checked the bases, and what it says with it',
      stages: within('loadBases', ['after the map']),
      code: 'device-lost',
      says: 'call again',
      next: 'anew',
    },
    destroyedAfterMsm: {
      fault: 'the device is destroyed when the result is there, and the result with it',
      stages: within('msm', ['after the map']),
      code: 'device-lost',
      says: 'call again',
      next: 'moved',
    },
    idle: {
      fault: 'the device of the engine is lost while nothing is going on',
      stages: ['between two calls'],
      code: null,
      says: '',
      next: 'right',
    },
    queued: {
      fault: 'the device of the engine is lost under the call ahead',
      stages: ['calls that wait for their turn'],
      code: null,
      says: '',
      next: 'right',
    },
    again: {
      fault: 'the new device is lost too',
      stages: ['while the bases move there'],
      code: 'device-lost',
      says: 'call again',
      next: 'moved',
    },
    noAdapter: {
      fault: 'the device is lost and the GPU is gone',
      stages: ['the call after the loss'],
      code: 'no-webgpu',
      says: 'the browser has switched the GPU off for this page; reload the page',
      next: 'moved',
    },
    noDevice: {
      fault: 'the device is lost and no other is to be had',
      stages: ['the call after the loss'],
      code: 'unsupported-device',
      says: 'the adapter makes no device',
      next: 'moved',
    },
    notRetained: {
      fault: 'the device is lost, and `retainBases` is false',
      stages: ['between two calls', 'in the call'],
      code: 'device-lost',
      says: 'retainBases is false',
      next: 'reloaded',
    },
    callers: {
      fault: 'a device that the caller brought is lost',
      stages: ['between two calls', 'in an msm', 'in a loadBases'],
      code: 'device-lost',
      says: 'it was yours: request another, and create a new engine on it',
      next: 'same',
    },
  },
} as const satisfies Section;

/** Buffers in the order in which a new engine makes them. */
const common = ['uniforms', 'read-back', 'timestamps', 'result'] as const;
const forImport = ['bases', ...common] as const;
const forMsm = [
  'scalars',
  'vectors',
  'picks',
  'entriesA',
  'entriesB',
  'counts',
  'totals',
  'levels',
  'buckets',
  'carriesA',
  'partialsA',
  'carriesB',
  'partialsB',
  'splitSums',
  'foldSums',
] as const;
/** Those that an MSM of more scalars wants larger than any that the one before had. */
const forLargerMsm = ['entriesA', 'entriesB'] as const;

export const allocations = {
  loadBases: forImport,
  msm: [...forMsm, ...common],
  'a larger msm': forLargerMsm,
} as const;

const memory = {
  title: 'The GPU is out of memory',
  file: 'tests/resilience/failures-injected.test.ts',
  text:
    'The stages are the buffers that are made, by name. Whatever else the call had made is given back. No call fails where the buffer ' +
    'that is kept for large uploads does not fit (`tests/engine/upload-buffer.test.ts`): they go through `writeBuffer`.',
  rows: {
    buffers: {
      fault: 'a buffer does not fit: WebGPU reports it, or `createBuffer` throws',
      stages: [
        ...within('loadBases', allocations.loadBases),
        ...within('msm', allocations.msm),
        ...within('a larger msm', allocations['a larger msm']),
      ],
      code: 'out-of-memory',
      says: 'set a smaller memoryBudget, or destroy bases that are not needed',
      next: 'right',
    },
    queries: {
      fault: 'WebGPU reports that the timestamps do not fit',
      stages: ['loadBases: query set', 'msm: query set'],
      code: 'out-of-memory',
      says: 'set a smaller memoryBudget, or destroy bases that are not needed',
      next: 'right',
    },
  },
} as const satisfies Section;

export const kernelNames = {
  loadBases: ['digest', 'import_points'],
  msm: ['decompose', 'sort_count', 'sort_scan', 'sort_scatter', 'partition_stream', 'walk', 'reduce'],
} as const;
export const passNames = {
  loadBases: ['digest', 'import'],
  msm: ['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce'],
} as const;

const everyKernel = [...within('loadBases', kernelNames.loadBases), ...within('msm', kernelNames.msm)];

const refused = {
  title: 'WebGPU refuses a command, or to compile',
  file: 'tests/resilience/failures-injected.test.ts',
  text:
    'A call is made to break a rule of WebGPU, and WebGPU reports it. Only that a result cannot be read and that the driver makes no ' +
    'pipeline is injected.',
  rows: {
    buffer: {
      fault: 'a buffer is invalid',
      stages: [
        ...within('loadBases', ['bases', 'result']),
        ...within('msm', ['scalars', 'buckets', 'result', 'read-back']),
      ],
      code: 'internal',
      says: 'WebGPU refused a command',
      next: 'right',
    },
    queries: {
      fault: 'the query set of the timestamps is invalid',
      stages: ['loadBases: query set', 'msm: query set'],
      code: 'internal',
      says: 'WebGPU refused a command',
      next: 'right',
    },
    bindings: {
      fault: 'the bind group of a kernel is invalid',
      stages: everyKernel,
      code: 'internal',
      says: 'WebGPU refused a command',
      next: 'right',
    },
    dispatch: {
      fault: 'a pass has an invalid dispatch',
      stages: [...within('loadBases', passNames.loadBases), ...within('msm', passNames.msm)],
      code: 'internal',
      says: 'WebGPU refused a command',
      next: 'right',
    },
    other: {
      fault: 'another command is invalid',
      stages: within('msm', ['writeBuffer', 'clearBuffer', 'copyBufferToBuffer', 'resolveQuerySet', 'submit']),
      code: 'internal',
      says: 'WebGPU refused a command',
      next: 'right',
    },
    map: {
      fault: 'the result cannot be read',
      stages: [
        ...within('loadBases', ['mapAsync', 'getMappedRange']),
        ...within('msm', ['mapAsync', 'getMappedRange']),
      ],
      code: 'internal',
      says: 'WebGPU failed',
      next: 'right',
    },
    shader: {
      fault: 'a shader does not compile; the error names kernel, line and reason',
      stages: everyKernel,
      code: 'internal',
      says: 'does not compile: line ',
      next: 'right',
    },
    pipeline: {
      fault: 'the driver makes no pipeline of a shader that is right; the error names the kernel',
      stages: everyKernel,
      code: 'internal',
      says: 'does not compile',
      next: 'right',
    },
  },
} as const satisfies Section;

const wrong = {
  title: 'The GPU is wrong',
  file: 'tests/resilience/failures-injected.test.ts',
  text: 'A result that is not on the curve is never returned, and neither is one of an earlier call.',
  rows: {
    computes: {
      fault: 'the GPU computes wrongly',
      stages: ['msm: walk'],
      code: 'internal',
      says: 'the GPU went wrong in the walks',
      next: 'same',
    },
    idleMsm: {
      fault: 'the GPU does nothing, on an engine that has a right result already',
      stages: ['msm'],
      code: 'internal',
      says: 'was not done',
      next: 'right',
    },
    idleImport: {
      fault: 'the GPU does nothing',
      stages: ['loadBases'],
      code: 'internal',
      says: 'was not done',
      next: 'right',
    },
  },
} as const satisfies Section;

const callers = {
  title: 'The caller changes its mind',
  file: 'tests/resilience/failures.test.ts',
  text: '',
  rows: {
    aborted: {
      fault: '`signal` is aborted',
      stages: [
        ...within('loadBases', ['before the call', 'while it waits for its turn', 'at the last submit']),
        ...within('msm', ['before the call', 'while it waits for its turn', 'between submits', 'at the last submit']),
      ],
      code: 'aborted',
      says: 'the call was aborted',
      next: 'right',
    },
    abortedAfter: {
      fault: '`signal` is aborted when all is done',
      stages: ['loadBases: after the call', 'msm: after the call'],
      code: null,
      says: '',
      next: 'right',
    },
    basesDestroyed: {
      fault: 'the bases are destroyed',
      stages: [
        'before the call',
        'while it waits for its turn',
        'before the submit',
        'while they move to a new device',
      ],
      code: 'destroyed',
      says: 'load them again',
      next: 'reloaded',
    },
    basesDestroyedLate: {
      fault: 'the bases are destroyed when the GPU has its work',
      stages: ['after the last submit'],
      code: null,
      says: '',
      next: 'reloaded',
    },
    engineDestroyed: {
      fault: 'the engine is destroyed',
      stages: [
        ...within('loadBases', ['before the call', 'while it waits for its turn', 'while it computes']),
        ...within('msm', ['before the call', 'while it waits for its turn', 'while it computes']),
        'while it gets a new device',
      ],
      code: 'destroyed',
      says: 'the engine was destroyed',
      next: 'same',
    },
  },
} as const satisfies Section;

const sharing = {
  title: 'Many calls, several engines, a device that is yours',
  file: 'tests/resilience/failures.test.ts',
  text:
    'On a device of yours the library leaves alone what is yours: your buffers, your error scopes, your error handlers, and the device ' +
    'itself, which is never destroyed.',
  rows: {
    concurrent: {
      fault: 'many calls at once on one engine',
      stages: ['2 calls', '10 calls', '100 calls'],
      code: null,
      says: '',
      next: 'right',
    },
    behindFailure: {
      fault: 'calls behind one that fails',
      stages: ['out of memory', 'a refused command', 'aborted'],
      code: null,
      says: '',
      next: 'right',
    },
    neighbour: {
      fault: 'another engine on the same device gets into trouble',
      stages: ['it is out of memory', 'it is refused a command', 'it is destroyed while it computes'],
      code: null,
      says: '',
      next: 'right',
    },
    ownDevice: {
      fault: 'a device that the caller brought, with buffers, handlers and open error scopes of its own',
      stages: ['an msm that works', 'an msm that is out of memory', 'an msm that is refused a command'],
      code: null,
      says: '',
      next: 'right',
    },
  },
} as const satisfies Section;

const creation = {
  title: 'There is no GPU',
  file: 'tests/resilience/failures.test.ts',
  text: '',
  rows: {
    noWebGpu: {
      fault: 'there is no WebGPU, and `backend` is `gpu`',
      stages: ['createMsmEngine'],
      code: 'no-webgpu',
      says: 'use a browser that has it',
      next: 'none',
    },
    noAdapter: {
      fault: 'there is no adapter, and `backend` is `gpu`',
      stages: ['createMsmEngine'],
      code: 'no-webgpu',
      says: 'check the GPU driver',
      next: 'none',
    },
    noDevice: {
      fault: 'the adapter makes no device, and `backend` is `gpu`',
      stages: ['createMsmEngine'],
      code: 'unsupported-device',
      says: 'the adapter makes no device',
      next: 'none',
    },
  },
} as const satisfies Section;

const both = {
  title: 'The GPU and the CPU compute a call together',
  file: 'tests/resilience/failures-both.test.ts',
  text: 'What befalls either half befalls the call: the other half stops, and nothing of it is left.',
  rows: {
    lost: {
      fault: 'the device of the engine is lost',
      stages: within('msm', ['while allocating', 'right after the submit', 'during the map']),
      code: 'device-lost',
      says: 'call again',
      next: 'moved',
    },
    memory: {
      fault: 'a buffer does not fit',
      stages: within('msm', ['scalars', 'buckets', 'result']),
      code: 'out-of-memory',
      says: 'set a smaller memoryBudget, or destroy bases that are not needed',
      next: 'right',
    },
    refused: {
      fault: 'WebGPU refuses a command',
      stages: within('msm', ['writeBuffer', 'submit']),
      code: 'internal',
      says: 'WebGPU refused a command',
      next: 'right',
    },
    aborted: {
      fault: '`signal` is aborted',
      stages: within('msm', ['before the call', 'at the first submit', 'when a part is done']),
      code: 'aborted',
      says: 'the call was aborted',
      next: 'right',
    },
    basesDestroyed: {
      fault: 'the bases are destroyed',
      stages: ['before the first submit'],
      code: 'destroyed',
      says: 'load them again',
      next: 'reloaded',
    },
    engineDestroyed: {
      fault: 'the engine is destroyed',
      stages: within('msm', ['at the first submit', 'when a part is done']),
      code: 'destroyed',
      says: 'the engine was destroyed',
      next: 'same',
    },
  },
} as const satisfies Section;

const keys = {
  title: 'The GPU of a proving key',
  file: 'tests/resilience/failures-keys.test.ts',
  text: "Keys of Groth16, PLONK and FFLONK with `backend: 'gpu'`. Without it the CPU has the vectors of a key as well, and computes when the GPU fails. The device is lost twice in a row; snarkjs verifies the proofs.",
  rows: {
    idle: {
      fault: 'the device of the key is lost while nothing is going on',
      stages: ['groth16', 'plonk', 'fflonk'],
      code: null,
      says: '',
      next: 'right',
    },
    between: {
      fault: 'the device is lost between two parts of a proof',
      stages: ['plonk', 'fflonk'],
      code: null,
      says: '',
      next: 'right',
    },
    during: {
      fault: 'the device is lost in any job of a proof',
      stages: ['groth16', 'plonk', 'fflonk'],
      code: 'device-lost',
      says: 'call again',
      next: 'right',
    },
    opening: {
      fault: 'the device is lost in any job of `openProvingKey`',
      stages: ['groth16', 'plonk', 'fflonk'],
      code: 'device-lost',
      says: 'call again',
      next: 'right',
    },
  },
} as const satisfies Section;

const workers = {
  title: 'A worker of the CPU',
  file: 'tests/resilience/failures-workers.test.ts',
  text: 'What a lost worker had drawn is computed again by the others or by the thread of the engine; `lastRun.retried` says so.',
  rows: {
    terminated: {
      fault: 'a worker is terminated',
      stages: ['before it is ready', 'while it computes', 'between two calls'],
      code: null,
      says: '',
      next: 'right',
    },
    dies: {
      fault: 'a worker dies of an error, or says that it failed',
      stages: ['it throws', 'it says so', 'it ends by itself'],
      code: null,
      says: '',
      next: 'right',
    },
    silent: {
      fault: 'a worker is not heard of any more, for three seconds after all else is done',
      stages: ['while it computes'],
      code: null,
      says: '',
      next: 'right',
    },
    none: {
      fault: 'no worker can be started; the thread of the engine computes alone',
      stages: ['`createWorker` throws', 'it gives no worker', 'there is no such script'],
      code: null,
      says: '',
      next: 'right',
    },
    twice: {
      fault: 'two workers die in a row; from then on none is started',
      stages: ['in two calls'],
      code: null,
      says: '',
      next: 'right',
    },
    aborted: {
      fault: '`signal` is aborted; the call rejects within 50 ms, and workers that were at work are ended',
      stages: ['while workers compute'],
      code: 'aborted',
      says: 'the call was aborted',
      next: 'right',
    },
    basesDestroyed: {
      fault: 'the bases are destroyed',
      stages: ['while workers compute'],
      code: 'destroyed',
      says: 'load them again',
      next: 'reloaded',
    },
    engineDestroyed: {
      fault: 'the engine is destroyed; the call rejects within 50 ms',
      stages: ['while workers compute'],
      code: 'destroyed',
      says: 'the engine was destroyed',
      next: 'same',
    },
  },
} as const satisfies Section;

const pending = {
  title: 'Code of the caller does not answer',
  file: 'tests/provers/pending-reads.test.ts',
  text: 'A `read` of a key or of a witness returns a promise that does not settle.',
  rows: {
    aborted: {
      fault: '`signal` is aborted',
      stages: ['openProvingKey', 'prove'],
      code: 'aborted',
      says: 'was aborted',
      next: 'right',
    },
    destroyed: {
      fault: 'the key is destroyed',
      stages: ['prove'],
      code: 'destroyed',
      says: 'open it again with openProvingKey',
      next: 'same',
    },
  },
} as const satisfies Section;

const noMemory = {
  title: 'WebAssembly gets no memory',
  file: 'tests/cpu/no-memory.test.ts',
  text: 'Chromium gives a renderer some 125 memories, workers included.',
  rows: {
    computed: {
      fault: 'there is none for a sum or a load; BigInts compute, and `lastRun.retried` says so',
      stages: ['loadBases', 'msm'],
      code: null,
      says: '',
      next: 'right',
    },
    asked: {
      fault: 'the same, with an arithmetic of `tuning.cpuArithmetic`',
      stages: ['msm'],
      code: 'out-of-memory',
      says: 'lower maxWorkers',
      next: 'right',
    },
    short: {
      fault: 'there is none for a worker; the other threads compute, and no more workers are started',
      stages: ['msm'],
      code: null,
      says: '',
      next: 'right',
    },
    vectors: {
      fault: 'there is none for vectors',
      stages: ['createFieldEngine'],
      code: 'out-of-memory',
      says: 'WebAssembly gets no memory',
      next: 'right',
    },
  },
} as const satisfies Section;

const files = {
  title: 'A file cannot be read',
  file: 'tests/encodings/disk-file.test.ts',
  text: 'Files of `openFile` of `webgpu-msm/node`, and Blobs of `openAsBlob` of Node.',
  rows: {
    changed: {
      fault: 'a file of `openFile` changes',
      stages: ['after `openFile`'],
      code: 'bad-argument',
      says: 'has changed since it was opened',
      next: 'same',
    },
    closed: {
      fault: 'a file of `openFile` is closed',
      stages: ['before a read'],
      code: 'destroyed',
      says: 'was closed',
      next: 'same',
    },
    counted: {
      fault: 'Node gives the Blob of a file above 4 GiB a size modulo 2^32',
      stages: ['openZkey', 'openHalo2Params'],
      code: 'bad-argument',
      says: 'Node makes Blobs of files with sizes modulo 2^32; openFile of webgpu-msm/node reads such files',
      next: 'same',
    },
  },
} as const satisfies Section;

const serviceWorkers = {
  title: 'A service worker has the main module',
  file: 'tests/package/service-worker.test.ts',
  text: '',
  rows: {
    imports: {
      fault: 'a service worker imports `webgpu-msm`, whose `import()` of other modules it forbids',
      stages: ['the first call that needs another module'],
      code: 'internal',
      says: 'service workers need webgpu-msm/service-worker',
      next: 'same',
    },
  },
} as const satisfies Section;

export const sections = {
  ...{ creation, lost, memory, refused, wrong, callers, both, keys, workers, sharing },
  ...{ pending, noMemory, files, serviceWorkers },
};

/** `msm: a` and `msm: b` are one item. */
const stageList = (stages: readonly string[]): string => {
  const byCall = new Map<string, string[]>();
  for (const stage of stages) {
    const [call, name] = stage.includes(': ') ? (stage.split(': ') as [string, string]) : ['', stage];
    byCall.set(call, [...(byCall.get(call) ?? []), name]);
  }
  return [...byCall].map(([call, names]) => (call === '' ? '' : `**${call}**: `) + names.join(', ')).join('; ');
};

const outcome = ({ code, says }: Row): string => (code === null ? 'the right result' : `\`${code}\`: “${says.trim()}”`);

const tableOf = (rows: readonly Row[]): string =>
  table(
    ['what happens', 'when', 'what the call gives', 'the next call'],
    rows.map((row) => [row.fault, stageList(row.stages), outcome(row), nextCalls[row.next]]),
  );

/** Words in lines of at most 100 columns. */
const wrap = (text: string): string =>
  text.split(' ').reduce((lines, word) => {
    const last = lines.length - lines.lastIndexOf('\n') - 1;
    return lines === '' ? word : `${lines}${last + 1 + word.length > 100 ? '\n' : ' '}${word}`;
  }, '');

/** Waits that never end. tests/resilience/failures-silent.test.ts has a test for each row. */
const silent = {
  title: 'The GPU stops answering',
  file: 'tests/resilience/failures-silent.test.ts',
  text: 'WebGPU lets a promise settle as late as it likes, or never. So every wait has a limit: 20 times what the plan expects of the submit at the speed that the device has shown, and at least 10 s; at least 120 s while a kernel is compiled or used for the first time; 30 s for an adapter or a device. Only the oldest wait of a queue is timed, as the others stand behind it. No time counts while the machine sleeps or the page is hidden. Each wait is tested in `loadBases`, `msm`, `msm` with `verify`, `warmup` and `loadScalars`.',
  rows: [
    [
      "a promise never settles, on `backend: 'gpu'`",
      '`device-lost`: “it did not answer”, with what was waited for',
      nextCalls.moved,
    ],
    ['the same, on `auto` and `both`', 'the right result, from the CPU; `lastRun.retried` says why', nextCalls.anew],
    [
      'two devices in a row do not answer, on `auto` and `both`',
      'the right result, from the CPU',
      'is right, from the CPU, as long as the engine lives',
    ],
    [
      "a device of the caller's does not answer, on `gpu`",
      '`device-lost`; the device is not destroyed',
      nextCalls.same,
    ],
    ['the same, on `auto` and `both`', 'the right result, from the CPU', 'is right, from the CPU, `loadBases` as well'],
    ['calls behind one that is stuck', 'the right result, on the next device or on the CPU', nextCalls.right],
    [
      '`signal` is aborted',
      '`aborted`, within 50 ms; what the call holds is given back when the GPU is done, or goes',
      nextCalls.right,
    ],
    ['the engine is destroyed, also during `trim`', '`destroyed`, within 50 ms; nothing is left', nextCalls.same],
    [
      'no adapter or device comes',
      'an engine of the CPU; on `gpu` `no-webgpu` or `unsupported-device`; a device that comes late is destroyed',
      '',
    ],
    ['a promise settles late, twice, or behind a later one', 'the right result', nextCalls.right],
  ],
};

const introduction = ({ title, file, text }: Pick<Section, 'title' | 'file' | 'text'>): string[] => [
  `## ${title}`,
  wrap(`${text} Proved by \`${file}\`.`.trim()),
];

/** The tables of docs/reference/failures.md. */
export const failureTables = (): string =>
  [
    ...Object.values(sections).map((section: Section) =>
      [...introduction(section), tableOf(Object.values(section.rows))].join('\n\n'),
    ),
    [...introduction(silent), table(['what happens', 'what the call gives', 'the next call'], silent.rows)].join(
      '\n\n',
    ),
  ].join('\n\n');
