//! Times sums of BN254 G1, or transforms of its scalar field, by arkworks, on one thread. Usage: ark
//! msm|ntt LOGN REPETITIONS. Prints milliseconds, one line each, after an untimed run.
use ark_bn254::{Fr, G1Affine, G1Projective};
use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use ark_std::{test_rng, UniformRand};
use std::time::Instant;

/// Prints the time of `work`, which returns whether its result is right.
fn time(repetitions: usize, mut work: impl FnMut() -> (f64, bool)) {
    for repetition in 0..=repetitions {
        let (ms, is_right) = work();
        assert!(is_right);
        if repetition > 0 {
            println!("{ms}");
        }
    }
}

fn sums(n: usize, repetitions: usize) {
    let mut random = test_rng();
    let projective: Vec<G1Projective> = (0..n).map(|_| G1Projective::rand(&mut random)).collect();
    let points: Vec<G1Affine> = G1Projective::normalize_batch(&projective);
    let scalars: Vec<Fr> = (0..n).map(|_| Fr::rand(&mut random)).collect();
    time(repetitions, || {
        let begun = Instant::now();
        let sum = G1Projective::msm(&points, &scalars).expect("as many scalars as points");
        (begun.elapsed().as_secs_f64() * 1e3, sum.into_affine().is_on_curve())
    });
}

/// In natural order on both sides.
fn transforms(n: usize, repetitions: usize) {
    let mut random = test_rng();
    let domain = Radix2EvaluationDomain::<Fr>::new(n).expect("a power of two");
    let coefficients: Vec<Fr> = (0..n).map(|_| Fr::rand(&mut random)).collect();
    let sum: Fr = coefficients.iter().sum();
    time(repetitions, || {
        let mut values = coefficients.clone();
        let begun = Instant::now();
        domain.fft_in_place(&mut values);
        (begun.elapsed().as_secs_f64() * 1e3, values[0] == sum)
    });
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().expect("a number");
    let (n, repetitions) = (1 << number(1), number(2));
    match arguments[0].as_str() {
        "msm" => sums(n, repetitions),
        "ntt" => transforms(n, repetitions),
        other => panic!("no operation {other}"),
    }
}
