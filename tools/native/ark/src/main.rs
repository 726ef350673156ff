//! Times sums of BN254 G1 by arkworks, on one thread. Usage: ark LOGN REPETITIONS. Prints
//! milliseconds, one line each, after an untimed run.
use ark_bn254::{Fr, G1Affine, G1Projective};
use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_std::{test_rng, UniformRand};
use std::time::Instant;

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let n = 1 << arguments[0];
    let mut random = test_rng();
    let projective: Vec<G1Projective> = (0..n).map(|_| G1Projective::rand(&mut random)).collect();
    let points: Vec<G1Affine> = G1Projective::normalize_batch(&projective);
    let scalars: Vec<Fr> = (0..n).map(|_| Fr::rand(&mut random)).collect();
    for repetition in 0..=arguments[1] {
        let begun = Instant::now();
        let sum = G1Projective::msm(&points, &scalars).expect("as many scalars as points");
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        assert!(sum.into_affine().is_on_curve());
        if repetition > 0 {
            println!("{ms}");
        }
    }
}
