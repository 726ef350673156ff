/** The program of the README, which prints a sum and where it was computed. */
declare module 'virtual:readme' {}
