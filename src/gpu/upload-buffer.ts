/**
 * Kept buffer for large uploads of a device. Dawn makes a staging buffer for every `writeBuffer` of
 * more than 4 MiB (Dawn, `DynamicUploader.h`, `kRingBufferSize`), and its fresh pages cost several
 * times as much as the copy. A buffer that stays and is mapped again after each use has none.
 */
import { bufferUsage, mapModeWrite } from './device-memory.js';
import { inErrorScopes, type WaitRequest, watchOf } from './device-watch.js';

/** Smallest upload that may use the buffer, 2 MiB: smaller ones are as fast without it. */
export const LEAST_UPLOAD_BYTES = 0x20_0000;

/** Limit of the buffer's size, 32 MiB. */
export const MOST_BUFFER_BYTES = 0x200_0000;

/**
 * Largest ratio of the buffer to an upload that uses it: where the GPU belongs to another process,
 * `unmap` transfers the whole buffer.
 */
const MOST_RATIO = 4;

const LABEL = 'webgpu-msm uploads';

/** No call waits for the buffer. */
const REQUEST: WaitRequest = { what: 'the buffer for uploads', kind: 'idle' };

/**
 * Writes to the buffers of one device, by a buffer of its own where that is faster. That buffer is
 * at most 32 MiB of staging memory, which counts in no budget. It is never waited for: an upload
 * that finds it in use goes through `writeBuffer`.
 */
export class UploadBuffer {
  readonly #device: GPUDevice;
  #buffer: GPUBuffer | null = null;
  /** True if the buffer is mapped, so that no upload uses it. */
  #isMapped = false;
  /** Size of the buffer that will be made; 0 for none. */
  #wanted = 0;
  /** Limit of its size; 0 after the device had no memory for one. */
  #most = MOST_BUFFER_BYTES;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /**
   * Writes bytes as `queue.writeBuffer` does, before all that is submitted later. Called inside the
   * caller's error scopes.
   *
   * @param at offset in `to`, in bytes
   */
  write(to: GPUBuffer, at: number, data: Uint8Array | Uint32Array): void {
    const staged = data.byteLength < LEAST_UPLOAD_BYTES ? 0 : this.#stage(to, at, data);
    if (staged === data.byteLength) return;
    const rest = data.subarray(staged / data.BYTES_PER_ELEMENT) as Uint8Array<ArrayBuffer>;
    this.#device.queue.writeBuffer(to, at + staged, rest);
  }

  /**
   * Destroys the buffer. A mapped one is zeroed before, as uploads may be secret; one in use cannot
   * be written.
   */
  free(): void {
    const [buffer, isMapped] = [this.#buffer, this.#isMapped];
    this.#buffer = null;
    this.#isMapped = false;
    this.#wanted = 0;
    if (buffer === null) return;
    try {
      if (isMapped) {
        new Uint8Array(buffer.getMappedRange()).fill(0);
        // hands the zeros to the process that has the GPU
        buffer.unmap();
      }
    } catch {
      // the loss of a device unmaps its buffers
    }
    buffer.destroy();
  }

  /** Writes the first bytes by the buffer. Returns how many: 0 if it is in use or not there. */
  #stage(to: GPUBuffer, at: number, data: Uint8Array | Uint32Array): number {
    this.#want(data.byteLength);
    const buffer = this.#buffer;
    if (buffer === null || !this.#isMapped || MOST_RATIO * data.byteLength < buffer.size) return 0;
    const size = Math.min(data.byteLength, buffer.size);
    try {
      const bytes = new Uint8Array(data.buffer, data.byteOffset, size);
      new Uint8Array(buffer.getMappedRange()).set(bytes);
      buffer.unmap();
      this.#isMapped = false;
      const encoder = this.#device.createCommandEncoder({ label: LABEL });
      encoder.copyBufferToBuffer(buffer, 0, to, at, size);
      this.#device.queue.submit([encoder.finish()]);
    } catch {
      // the device is lost, or this part of it does not work
      this.free();
      return 0;
    }
    void this.#map(buffer);
    return size;
  }

  /** Has a buffer made for such uploads, unless there is one. */
  #want(bytes: number): void {
    const size = Math.min(this.#most, 2 ** Math.ceil(Math.log2(bytes)));
    if (size <= Math.max(this.#wanted, this.#buffer?.size ?? 0)) return;
    const isAsked = this.#wanted > 0;
    this.#wanted = size;
    // allocates while the device computes: the caller makes its submit first
    if (!isAsked) void Promise.resolve().then(() => this.#make());
  }

  /** Makes the buffer that is wanted, in place of a smaller one. Never rejects. */
  async #make(): Promise<void> {
    const size = this.#wanted;
    if (size === 0) return;
    this.free();
    let made: GPUBuffer | null = null;
    try {
      const make = (): void => {
        const usage = bufferUsage.mapWrite | bufferUsage.copySrc;
        made = this.#device.createBuffer({ label: LABEL, size, usage });
        this.#buffer = made;
      };
      await inErrorScopes(this.#device, make, REQUEST);
    } catch {
      this.#most = 0;
      this.#drop(made);
    }
    if (made !== null && this.#buffer === made) await this.#map(made);
  }

  /** Maps the buffer, once the device has done what uses it. Never rejects. */
  async #map(buffer: GPUBuffer): Promise<void> {
    try {
      let mapped: Promise<unknown> | null = null;
      const map = (): void => {
        mapped = watchOf(this.#device).wait(buffer.mapAsync(mapModeWrite), REQUEST);
      };
      const scopes = inErrorScopes(this.#device, map, REQUEST);
      await Promise.all([scopes, mapped]);
      if (this.#buffer === buffer) this.#isMapped = true;
    } catch {
      this.#drop(buffer);
    }
  }

  /** Frees the buffer unless another has its place. */
  #drop(buffer: GPUBuffer | null): void {
    if (this.#buffer === buffer) this.free();
  }
}

const uploadBuffers = new WeakMap<GPUDevice, UploadBuffer>();

/** Returns the upload buffer of a device, which all its users share. */
export const uploadBufferOf = (device: GPUDevice): UploadBuffer => {
  const known = uploadBuffers.get(device);
  if (known !== undefined) return known;
  const made = new UploadBuffer(device);
  uploadBuffers.set(device, made);
  void watchOf(device).loss.then(() => made.free());
  return made;
};
