// butterflies: one stage of a number theoretic transform, in place. Each thread computes the
// butterflies of some of the stage's twiddles, one after the other, and reads a twiddle once for
// the blocks of the vector that it takes. Nothing is shared, so that nothing waits at barriers,
// which takes software adapters longer than the products.
//
// transform.wgsl computes the same in several stages at once. The table of twiddles is the same
// one: w^-e = -w^(n/2 - e). A stage with elements at a distance of 1 has no twiddle but 1, and a
// kernel without products.
// Host: src/fields/stages/butterflies.ts. Tests: tests/stages/butterflies.test.ts.
{{structs}}
{{> field}}
{{> element}}

{{bindings}}
{{> hash_chain}}
{{#inLimbs}}

// Operands are elements as memory has them, with limbs below 2^14, or products. Their sums are far
// below 2^20, which field_tighten takes, so that elements that are read need no carry.
fn sum(a: Loose, b: Loose) -> Tight {
  return field_tighten(Loose({{#limbs}}a.l{{i}} + b.l{{i}}, {{/limbs}}));
}

fn difference(a: Loose, b: Loose) -> Loose {
  return Loose({{#limbs}}a.l{{i}} - b.l{{i}}, {{/limbs}});
}
{{/inLimbs}}
{{#inWords}}

fn sum(a: Loose, b: Loose) -> Tight {
  return field_plus(a, b);
}

fn difference(a: Loose, b: Loose) -> Loose {
  return field_minus(a, b);
}
{{/inWords}}
{{#together}}

// Stores the two elements of a butterfly, as field_pack_any packs them. The carries of the two
// alternate, because each chain alone waits for its last carry at every limb.
fn store(at: u32, a: Tight, b: Tight) {
  let k = field_quotient(a, -{{margin}});
  let l = field_quotient(b, -{{margin}});
{{#chains}}
  let s{{i}} = a.l{{i}} - k * {{p}}u{{^first}} + g{{previous}}{{/first}};
  let t{{i}} = b.l{{i}} - l * {{p}}u{{^first}} + h{{previous}}{{/first}};
{{^last}}
  let c{{i}} = s{{i}} & {{limbMask}}u;
  let d{{i}} = t{{i}} & {{limbMask}}u;
  let g{{i}} = {{carry}};
  let h{{i}} = {{otherCarry}};
{{/last}}
{{/chains}}
  data[at] = field_pack(Canonical({{#chains}}{{^last}}c{{i}}, {{/last}}{{/chains}}s{{lastLimb}}));
  data[at + config.distance] = field_pack(Canonical({{#chains}}{{^last}}d{{i}}, {{/last}}{{/chains}}t{{lastLimb}}));
}
{{/together}}
{{^together}}

fn store(at: u32, a: Tight, b: Tight) {
  data[at] = field_pack_any(a);
  data[at + config.distance] = field_pack_any(b);
}
{{/together}}

@compute @workgroup_size({{threads}})
fn butterflies(@builtin(global_invocation_id) id: vec3<u32>) {
  let thread = id.x;
  if (!continue_chain(thread == 0u) || thread >= config.threads) {
    return;
  }
{{#held}}
  hold_constants(id.z);
{{/held}}
  // Each thread has a butterfly, so the conditions are at the ends of the loops: SwiftShader
  // executes a turn more of loops with a condition at the head, in which no lane is active.
  var j = thread % config.twiddle_threads;
  loop {
{{^isSum}}
    var power = j * config.blocks;
    let flips = config.inverse > 0u && power > 0u;
    if (flips) {
      power = config.distance * config.blocks - power;
    }
    var twiddle = canonical_loose(field_unpack(twiddles[power << config.stride]));
    if (flips) {
      twiddle = difference(field_loose(zero_element()), twiddle);
    }
    let w = field_tighten(twiddle);
{{/isSum}}
    var block = thread / config.twiddle_threads;
    loop {
      let at = 2u * config.distance * block + j;
      let first = canonical_loose(field_unpack(data[at]));
      let second = canonical_loose(field_unpack(data[at + config.distance]));
{{#inTime}}
      let x = field_loose(field_mul(second, w));
      store(at, sum(first, x), field_tighten(difference(first, x)));
{{/inTime}}
{{#inFrequency}}
      store(at, sum(first, second), field_mul(difference(first, second), w));
{{/inFrequency}}
{{#isSum}}
      store(at, sum(first, second), field_tighten(difference(first, second)));
{{/isSum}}
      continuing {
        block += config.threads / config.twiddle_threads;
        break if block >= config.blocks;
      }
    }
    continuing {
      j += config.twiddle_threads;
      break if j >= config.distance;
    }
  }
}
