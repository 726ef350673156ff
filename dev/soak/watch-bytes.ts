/**
 * Counts the buffers of the library on a device at the boundary of the API, independently of the
 * library.
 */
export interface WatchedBytes {
  /** Bytes now, and at most so far. */
  readonly bytes: number;
  readonly peak: number;
  /** Buffers created, and buffers destroyed. */
  readonly made: number;
  readonly frees: number;
}

/** Watches a device from now on. */
export const watchBytes = (device: GPUDevice): WatchedBytes => {
  const told = { bytes: 0, peak: 0, made: 0, frees: 0 };
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    told.made++;
    told.bytes += buffer.size;
    told.peak = Math.max(told.peak, told.bytes);
    const destroy = buffer.destroy.bind(buffer);
    let isAlive = true;
    buffer.destroy = () => {
      if (isAlive) {
        told.bytes -= buffer.size;
        told.frees++;
      }
      isAlive = false;
      return destroy();
    };
    return buffer;
  };
  return told;
};
