/** Parts of the library that named curves over a prime field do without: loaded for all other curves. */
export { isPrime } from '../field/prime.js';
export { quadraticField } from '../field/quadratic.js';
export { originalOf, weierstrassOf } from './edwards.js';
