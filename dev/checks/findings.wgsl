// Findings of the stage checks: the first finding, the number of findings, and for every walk the
// number of entries of its stream and the number that it took in. Layout and rules:
// dev/checks/findings.ts.
{{#findingFields}}
const FINDING_{{name}} = {{i}}u;
{{/findingFields}}
{{#rules}}
const {{name}} = {{i}}u;
{{/rules}}
const NO_TASK = {{noTask}}u;

// Fields of the word that `writers` has for every sum.
const EXPECTED = {{expected}}u;         // the stream has an entry for the sum
const WRITER_COUNT = {{writerCount}}u;  // how often the sum was written
const ONE_WRITER = {{oneWriter}}u;
const WRITER_LEVEL_SHIFT = {{writerLevelShift}}u; // level of the walk that wrote it
const WRITER_TASK = {{writerTask}}u;    // task that wrote it

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
