import { notLoaded } from '../errors.js';

/** What is in `later.js` of the package. */
export const loadLater = (): Promise<typeof import('./later.js')> => import('./later.js').catch(notLoaded('later'));
