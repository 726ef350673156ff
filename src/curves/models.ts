/** Parts of the library that only some curves need: curves over F_p², and constants of callers. */
export { isPrime } from '../field/prime.js';
export { quadraticField } from '../field/quadratic.js';
