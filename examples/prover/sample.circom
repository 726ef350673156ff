pragma circom 2.0.0;
include "circomlib/circuits/poseidon.circom";

// A chain of hashes: who proves it knows the start of a chain that ends in `last`.
template HashChain(n) {
  signal input first;
  signal output last;
  component hashes[n];
  signal values[n + 1];
  values[0] <== first;
  for (var i = 0; i < n; i++) {
    hashes[i] = Poseidon(1);
    hashes[i].inputs[0] <== values[i];
    values[i + 1] <== hashes[i].out;
  }
  last <== values[n];
}

component main = HashChain(16);
