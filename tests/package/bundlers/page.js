// @ts-nocheck: see compute.js
/** A program without a worker of its own. */
import { outcomeOf } from './compute.js';

outcomeOf().then((inPage) => {
  document.querySelector('output').textContent = JSON.stringify({ inPage });
});
