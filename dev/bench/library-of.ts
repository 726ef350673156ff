/** Source of the library that a setting is measured with. */
import { createMsmEngine } from '../../src/index.js';
import { createCheckedEngine } from '../checks/engine.js';
import type { Host, Library } from './environment.js';
import type { Setting } from './settings.js';

/** Returns the sources of this bench, whose stages are checked if the setting says so. */
export const ownLibrary = ({ checks }: Pick<Setting, 'checks'>): Library => ({
  createMsmEngine: checks ? createCheckedEngine : createMsmEngine,
});

/** Returns the sources of this bench, unless the setting names a build. */
export const libraryOf = async (host: Host, setting: Pick<Setting, 'build' | 'checks'>): Promise<Library> => {
  if (setting.build === null) return ownLibrary(setting);
  if (host.openBuild === undefined) throw new Error('build: this host has no folders; run it with npm run bench');
  return host.openBuild(setting.build);
};
