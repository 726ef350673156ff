// custody: a stage takes over only from the dispatch that was to be before it, in this job, and with the config that it was to have. What
// `continue_chain` does for one thread of the dispatch is the stamp that lets the next one go on, and which the host looks for.
// Host: src/shaders/hash-chain.ts.

// Mixes a word; another word, another result. Zero does not stay zero: it is what unwritten memory is full of.
fn mix(word: u32) -> u32 {
  let moved = word + {{mixStep}}u;
  let mixed = (moved ^ (moved >> 16u)) * {{mixFactor}}u;
  return mixed ^ (mixed >> 15u);
}

// What word `index` of something counts by in its digest.
fn weight(index: u32) -> u32 {
  return (2u * index + 1u) * {{mixStep}}u;
}

// The digest of an entry: of its key and its handle. Those of a stream are added up, in whichever order.
fn digest_of(key: u32, point_ref: u32) -> u32 {
  return mix(key * weight(0u) + point_ref * weight(1u));
}

fn absorb(before: u32, word: u32) -> u32 {
  return mix(before ^ word);
}

// Adds to an account of many lanes, from so many threads that they would wait for each other at one word.
fn add_to_account(account: u32, thread: u32, digest: u32) {
  atomicAdd(&chain[account + thread % {{lanes}}u], digest);
}

// `first` is true for one thread of the dispatch. A dispatch that is done twice stamps twice, and so not at all; and once the next one has taken over,
// it does nothing.
fn continue_chain(first: bool) -> bool {
  var link = config.before;
{{#configFields}}
  link = absorb(link, config.{{name}});
{{/configFields}}
  if (link != config.after || atomicLoad(&chain[config.slot]) != config.before || atomicLoad(&chain[config.slot + 2u]) != 0u) {
    return false;
  }
  if (first) {
    atomicAdd(&chain[config.slot + 1u], link);
  }
  return true;
}
