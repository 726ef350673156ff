import { notLoaded } from '../errors.js';

/** Loads what named curves over a prime field do without. */
export const loadModels = (): Promise<typeof import('./models.js')> => import('./models.js').catch(notLoaded('models'));
