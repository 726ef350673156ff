/**
 * Flags of the WebGPU specification (GPUBufferUsage, GPUMapMode). Browsers have them as globals,
 * Node has not, and this library neither needs nor declares globals.
 */
export const bufferUsage = {
  mapRead: 0x0001,
  mapWrite: 0x0002,
  copySrc: 0x0004,
  copyDst: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
  indirect: 0x0100,
  queryResolve: 0x0200,
} as const;

export const mapModeRead = 0x0001;
export const mapModeWrite = 0x0002;
