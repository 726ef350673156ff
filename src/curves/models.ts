/** Parts of the library for curves that are not named or not over a prime field. */
export { isPrime } from '../field/prime.js';
export { quadraticField } from '../field/quadratic.js';
export { originalOf, weierstrassOf } from './edwards.js';
