// The dispatch chain, a hash chain over the dispatches of a job: a dispatch works only if the link
// of the dispatch before it is there, in this job, and its config is the one that the host sent.
// `continue_chain` then adds the next link, which lets the next dispatch go on and which the host
// compares with its own chain.
// Host: src/shaders/hash-chain.ts.

// Mixes a word, as a bijection. Zero does not map to zero, because unwritten memory is full of
// zeros.
fn mix(word: u32) -> u32 {
  let moved = word + {{mixStep}}u;
  let mixed = (moved ^ (moved >> 16u)) * {{mixFactor}}u;
  return mixed ^ (mixed >> 15u);
}

// Returns the factor of word `index` in a digest.
fn weight(index: u32) -> u32 {
  return (2u * index + 1u) * {{mixStep}}u;
}

// Returns the digest of an entry. The digest of a stream is the sum of them, so that the order does
// not matter.
fn digest_of(key: u32, point_ref: u32) -> u32 {
  return mix(key * weight(0u) + point_ref * weight(1u));
}

// Appends a word to a hash chain.
fn absorb(before: u32, word: u32) -> u32 {
  return mix(before ^ word);
}

// Adds to an account of several lanes, because many threads would wait for each other at one word.
fn add_to_account(account: u32, thread: u32, digest: u32) {
  atomicAdd(&chain[account + thread % {{lanes}}u], digest);
}

// Returns whether the dispatch may work. `first` is true for one thread of the dispatch, which adds
// the link. A dispatch that runs twice adds its link twice, which is no valid link; and it does
// nothing once the next dispatch has added its own.
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
