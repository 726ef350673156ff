// Part of an instrumented walk: notes the writer of every sum, and counts the entries that the walk
// takes in (see check.wgsl).
{{> findings}}

// Entries that this thread took in, absent ones not counted.
var<private> taken: u32;

fn note_writer(bucket: u32, writer: u32) {
  let before = atomicAdd(&writers[bucket], ONE_WRITER | (config.level << WRITER_LEVEL_SHIFT) | (writer & WRITER_TASK));
  if ((before & EXPECTED) == 0u) {
    report(UNWANTED, config.level, bucket, writer);
  }
  if ((before & WRITER_COUNT) != 0u) {
    report(TWO_WRITERS, config.level, bucket, writer);
  }
}

fn note_taken() {
  atomicAdd(&chain[counter_taken(config.level)], taken);
}
