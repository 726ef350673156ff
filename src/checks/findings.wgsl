// What the checks of `tuning.checks` found: the first finding in words, how many there were, and for every walk how many entries
// its stream has and how many were taken in. Layout and rules: src/checks/findings.ts.
{{#findingFields}}
const FINDING_{{name}} = {{i}}u;
{{/findingFields}}
{{#rules}}
const {{name}} = {{i}}u;
{{/rules}}
const NO_TASK = {{noTask}}u;

// The word that every sum has in `writers`.
const EXPECTED = {{expected}}u;         // its stream has an entry for it
const WRITER_COUNT = {{writerCount}}u;  // how often it was written
const ONE_WRITER = {{oneWriter}}u;
const WRITER_LEVEL_SHIFT = {{writerLevelShift}}u; // by the walk of which level,
const WRITER_TASK = {{writerTask}}u;    // and by which of its tasks

fn report(rule: u32, level: u32, bucket: u32, task: u32) {
  if (atomicAdd(&chain[FINDING_count], 1u) == 0u) {
    atomicStore(&chain[FINDING_rule], rule);
    atomicStore(&chain[FINDING_level], level);
    atomicStore(&chain[FINDING_bucket], bucket);
    atomicStore(&chain[FINDING_task], task);
  }
}

fn counter_present(level: u32) -> u32 {
  return {{counters}}u + 2u * level;
}

fn counter_taken(level: u32) -> u32 {
  return {{counters}}u + 2u * level + 1u;
}
