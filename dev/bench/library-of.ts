/** Source of the library that a setting is measured with. */
import { stageChecks } from '../../src/checks.js';
import { createMsmEngine } from '../../src/index.js';
import type { Host, Library } from './environment.js';
import type { Setting } from './settings.js';

/** Returns the sources of this bench, unless the setting names a build. */
export const libraryOf = async (host: Host, { build }: Pick<Setting, 'build'>): Promise<Library> => {
  if (build === null) return { createMsmEngine, stageChecks };
  if (host.openBuild === undefined) throw new Error('build: this host has no folders; run it with npm run bench');
  return host.openBuild(build);
};
