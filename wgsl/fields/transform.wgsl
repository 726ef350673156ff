// transform: several stages of a number theoretic transform, in place. Each workgroup takes columns
// of elements at a distance of 2^shift into workgroup memory, computes `stages` stages of
// butterflies there, and writes them back (Bailey 1990, "FFTs in external or hierarchical memory").
//
// Decimation in frequency takes natural order to reversed order; decimation in time has the same
// butterflies transposed, in the opposite order, and takes reversed order to natural order. Stage s
// has elements at a distance of n / 2^(s+1), and powers of w^(2^s).
//
// One table has w^0, …, w^(size/2 - 1) for the longest transform; 2^stride of its powers are one of
// ours. Powers of 1/w are in it too: w^-e = -w^(n/2 - e).
// Host: src/fields/gpu/transform.ts. Tests: tests/support/field-vectors.ts.
{{structs}}
{{> field}}
{{> element}}

{{bindings}}
{{> hash_chain}}

// The words of the elements, in one plane for each vector of a Packed.
{{#vectors}}
var<workgroup> plane{{i}}: array<vec4<u32>, {{block}}>;
{{/vectors}}

fn load(at: u32) -> Packed {
  return Packed({{#vectors}}plane{{i}}[at], {{/vectors}});
}

fn store(at: u32, value: Packed) {
{{#vectors}}
  plane{{i}}[at] = value.v{{i}};
{{/vectors}}
}

// Returns the index in the vector of element l of the workgroup's block. Columns are the fast index
// of a block, so that neighbours in memory are read together; where a column is contiguous, rows
// are.
fn place(l: u32, first_column: u32) -> u32 {
  var row = l >> config.log_columns;
  var column = l & ((1u << config.log_columns) - 1u);
  if (config.shift == 0u) {
    row = l & ((1u << config.stages) - 1u);
    column = l >> config.stages;
  }
  column += first_column;
  let base = (column >> config.shift) << (config.shift + config.stages);
  return base + (column & ((1u << config.shift) - 1u)) + (row << config.shift);
}

@compute @workgroup_size({{threads}})
fn transform(
  @builtin(local_invocation_index) thread: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  // Every thread of a workgroup finds the same, but WGSL cannot know: barriers come before any
  // return, and the loops are empty where nothing is to be done.
  let index = group.x + group.y * groups.x;
  let proceeds = continue_chain(index == 0u && thread == 0u) && index < config.blocks;
  let log_block = config.stages + config.log_columns;
  let elements = select(0u, 1u << log_block, proceeds);
  let first_column = index << config.log_columns;
  for (var l = thread; l < elements; l += {{threads}}u) {
    store(l, data[place(l, first_column)]);
  }
  for (var turn = 0u; turn < config.stages; turn++) {
    workgroupBarrier();
    var stage = turn;
    if (config.in_time > 0u) {
      stage = config.stages - 1u - turn;
    }
    let log_half = config.stages - 1u - stage;
    let half = 1u << log_half;
    for (var t = thread; t < elements / 2u; t += {{threads}}u) {
      // The twiddle is the slowest index where columns are contiguous, so that whole subgroups skip
      // the product with 1.
      var l0: u32;
      var distance = half;
      var power: u32;
      if (config.shift == 0u) {
        let rest = log_block - 1u - log_half;
        power = t >> rest;
        l0 = ((t & ((1u << rest) - 1u)) << (log_half + 1u)) + power;
      } else {
        let column = t & ((1u << config.log_columns) - 1u);
        let pair = t >> config.log_columns;
        power = pair & (half - 1u);
        l0 = ((((pair >> log_half) << (log_half + 1u)) + power) << config.log_columns) + column;
        distance = half << config.log_columns;
        power = (power << config.shift) + ((first_column + column) & ((1u << config.shift) - 1u));
      }
      power = power << (config.first + stage);
      let first = element(load(l0));
      let second = element(load(l0 + distance));
      let flips = config.inverse > 0u && power > 0u;
      var x = second;
      if (config.in_time == 0u) {
        if (flips) {
          x = element_minus(second, first);
        } else {
          x = element_minus(first, second);
        }
      }
      if (power > 0u) {
        if (config.inverse > 0u) {
          power = (1u << (config.log_length - 1u)) - power;
        }
        x = field_mul(field_loose(x), element(twiddles[power << config.stride]));
      }
      if (config.in_time == 0u) {
        store(l0, field_pack_any(element_plus(first, second)));
        store(l0 + distance, field_pack_any(x));
      } else {
        let sum = field_pack_any(element_plus(first, x));
        let difference = field_pack_any(element_minus(first, x));
        if (flips) {
          store(l0, difference);
          store(l0 + distance, sum);
        } else {
          store(l0, sum);
          store(l0 + distance, difference);
        }
      }
    }
  }
  workgroupBarrier();
  for (var l = thread; l < elements; l += {{threads}}u) {
    data[place(l, first_column)] = load(l);
  }
}
