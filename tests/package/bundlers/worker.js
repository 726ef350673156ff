// @ts-nocheck: see compute.js
/** A worker of the program's own, which has the name that most programs give theirs. */
import { outcomeOf } from './compute.js';

addEventListener('message', async () => postMessage(await outcomeOf()));
