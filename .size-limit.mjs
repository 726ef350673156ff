/** Limits for size-limit; scripts/package/size-limits.mjs is their only source. */
import { sizeLimits } from './scripts/package/size-limits.mjs';

export default Object.entries(sizeLimits).map(([name, { bytes }]) => ({
  name: `${name}.js`,
  path: `dist/${name}.js`,
  limit: `${bytes} B`,
  gzip: true,
}));
