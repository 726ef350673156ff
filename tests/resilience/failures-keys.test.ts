/** The loss of a proving key's device: see tests/support/failure-table.ts. */
import { afterAll, expect } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { openProvingKey as openGroth16 } from '../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import type { CircuitKey, EngineOptions, ProveOptions } from '../../src/proofs/api.js';
import { expectOutcome, prove } from '../support/failure-bench.js';
import { type Row, sections } from '../support/failure-table.js';
import { type LeasedDevice, type LeasedGpu, leaseGpu } from '../support/leased-gpu.js';
import { ffCurveOf, makeStatement, type Statement, type SystemName } from '../support/proving.js';
import { sleep } from '../support/time.js';

afterAll(async () => (await ffCurveOf('bn254')).terminate());

/** A key of any system. */
interface Key extends CircuitKey {
  prove(witness: Uint8Array, options?: ProveOptions): ReturnType<Statement['prove']>;
}

const openers: Readonly<Record<SystemName, (zkey: Uint8Array, options: EngineOptions) => Promise<Key>>> = {
  groth16: openGroth16,
  plonk: openPlonk,
  fflonk: openFflonk,
};

/** Small workgroups compile fast. */
const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };

const statements = new Map<SystemName, Promise<Statement>>();
const statementOf = (system: SystemName): Promise<Statement> => {
  const made = statements.get(system) ?? makeStatement(system, 'bn254', 4, 'dense');
  statements.set(system, made);
  return made;
};

/** Waits until an engine may know that its device is lost. */
const lose = async ({ devices }: LeasedGpu): Promise<void> => {
  (devices.at(-1) as LeasedDevice).takeAway('at once');
  await sleep();
};

/** @param prepare gets each device before the key does */
const openKey = async (system: SystemName, prepare?: (lease: LeasedDevice) => void) => {
  const gpu = await leaseGpu(prepare);
  const statement = await statementOf(system);
  const key = await openers[system](statement.zkey.data, { backend: 'gpu', gpu: gpu.gpu, tuning });
  const proof = (options?: ProveOptions) => key.prove(statement.circuit.witness, options);
  const expectRight = async (proving = proof()): Promise<void> =>
    expect(await statement.verify(await proving)).toBe(true);
  return { gpu, key, proof, expectRight };
};

/** Takes a device away at one of its jobs. */
class Strike {
  /** Number of jobs before it. */
  job = Number.POSITIVE_INFINITY;
  hasStruck = false;
  #jobs = 0;

  /** @param job number of jobs before the strike */
  aim(job: number): void {
    this.job = job;
    this.hasStruck = false;
    this.#jobs = 0;
  }

  at(lease: LeasedDevice): void {
    lease.tap = ({ method, proceed }) => {
      if (method === 'mapAsync' && this.#jobs++ === this.job) {
        this.hasStruck = true;
        lease.takeAway('at once');
      }
      return proceed();
    };
  }
}

/**
 * Takes a device away at the first job of some work, at the second, and so on, until the work has
 * no more, and each time the next device as well.
 *
 * @param work after a loss it rejects as the row says
 * @param next called after two losses
 * @returns the number of jobs
 */
const loseInEachJob = async (
  row: Row,
  strike: Strike,
  work: () => Promise<unknown>,
  next: () => Promise<void>,
): Promise<number> => {
  for (let job = 0; ; job++) {
    strike.aim(job);
    const first = work();
    await first.catch(() => undefined);
    if (!strike.hasStruck) {
      await first;
      return job;
    }
    await expectOutcome(row, first);
    // a loss while vectors are brought to the next device may be made good
    strike.aim(job);
    await work().catch((error) => expect(error).toMatchObject({ code: row.code }));
    expect(strike.hasStruck).toBe(true);
    strike.aim(Number.POSITIVE_INFINITY);
    await next();
  }
};

/** One system is enough for the first tier, and its jobs are many. */
const isLong = (key: keyof typeof sections.keys.rows, stage: string): boolean =>
  stage === 'groth16' || key === 'during' || key === 'opening';

prove(
  sections.keys.title,
  sections.keys.rows,
  {
    idle: async (system) => {
      const { gpu, key, expectRight } = await openKey(system);
      for (let losses = 0; losses < 2; losses++) {
        await lose(gpu);
        await expectRight();
      }
      expect(gpu.devices).toHaveLength(3);
      key.destroy();
      expect(gpu.devices.map(({ live }) => live)).toEqual([0, 0, 0]);
    },

    between: async (system) => {
      const { gpu, key, proof, expectRight } = await openKey(system);
      let parts = 0;
      const onProgress = (): void => {
        parts++;
        (gpu.devices.at(-1) as LeasedDevice).takeAway('at once');
      };
      await expectRight(proof({ onProgress }));
      expect([parts, gpu.devices.length]).toEqual([5, 5]);
      await expectRight();
      key.destroy();
    },

    during: async (system, row) => {
      const strike = new Strike();
      const { key, proof, expectRight } = await openKey(system, (lease) => strike.at(lease));
      expect(await loseInEachJob(row, strike, () => proof(), expectRight)).toBeGreaterThan(5);
      key.destroy();
    },

    opening: async (system, row) => {
      const { zkey, circuit, verify } = await statementOf(system);
      const strike = new Strike();
      const open = async (): Promise<void> => {
        const { gpu } = await leaseGpu((lease) => strike.at(lease));
        using key = await openers[system](zkey.data, { backend: 'gpu', gpu, tuning });
        if (strike.job === Number.POSITIVE_INFINITY) expect(await verify(await key.prove(circuit.witness))).toBe(true);
      };
      expect(await loseInEachJob(row, strike, open, open)).toBeGreaterThan(5);
    },
  },
  isLong,
);
