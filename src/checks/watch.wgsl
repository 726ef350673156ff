// What a walk does besides, with `tuning.checks`: it counts the writers of every sum, and the entries that it takes in (see check.wgsl).
{{> findings}}

// Present entries that this thread took in.
var<private> taken: u32;

fn note_writer(bucket: u32, writer: u32) {
  let before = atomicAdd(&writers[bucket], ONE_WRITER | (config.level << WRITER_LEVEL_SHIFT) | writer);
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
