// The threads of a workgroup share one inversion: a tree of products, with the trick at every node on the way back, as the inverse of a
// left child is that of the parent times the right child. Most lanes wait most of the time, and on SwiftShader, which computes both
// sides of every `if`, all of them multiply on every level; columns.wgsl wastes less.
//
// Node n has the children 2n and 2n + 1; the root is 1, and the leaves, THREADS + t, are the products of the threads. It must be called
// by all threads together.

const THREADS = {{threads}}u;

// The leaves have the places of all other nodes: they are there before those and after them only.
var<workgroup> tree: array<Packed, THREADS>;

fn place(node: u32) -> u32 {
  return node & (THREADS - 1u);
}

fn node_factor(node: Packed) -> Loose {
  return canonical_loose(field_unpack(node));
}

fn shared_inverse(own: Tight, thread: u32) -> Tight {
  let leaf = field_pack_any(own);
  tree[thread] = leaf;
  workgroupBarrier();
  for (var nodes = THREADS / 2u; nodes > 0u; nodes /= 2u) {
    var product: Packed;
    if (thread < nodes) {
      let left = tree[place(2u * (nodes + thread))];
      let right = tree[place(2u * (nodes + thread) + 1u)];
      product = field_pack_any(field_mul(node_factor(left), field_tighten(node_factor(right))));
    }
    workgroupBarrier();
    if (thread < nodes) {
      tree[nodes + thread] = product;
    }
    workgroupBarrier();
  }

  // of the node of this thread on the level that was computed last
  var inverse: Tight;
  if (thread == 0u) {
    inverse = field_inverse(field_tighten(node_factor(tree[place(1u)])));
  }
  for (var nodes = 2u; nodes <= THREADS; nodes *= 2u) {
    if (thread < nodes / 2u) {
      tree[nodes / 2u + thread] = field_pack_any(inverse);
    }
    workgroupBarrier();
    let parent = tree[place((nodes + thread) / 2u)];
    if (nodes == THREADS) {
      workgroupBarrier();
      tree[thread] = leaf;
      workgroupBarrier();
    }
    if (thread < nodes) {
      let sibling = tree[place((nodes + thread) ^ 1u)];
      inverse = field_mul(node_factor(sibling), field_tighten(node_factor(parent)));
    }
    workgroupBarrier();
  }
  return inverse;
}
