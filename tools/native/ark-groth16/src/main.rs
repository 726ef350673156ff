//! Times proofs of Groth16 on BN254 by arkworks, from a key and a witness of snarkjs. Usage: ark-groth16
//! ZKEY WTNS REPETITIONS THREADS. Prints milliseconds, one line each, after an untimed proof. Each proof
//! is verified.
mod files;

use ark_bn254::{Bn254, Fr};
use ark_ff::PrimeField;
use ark_groth16::{prepare_verifying_key, r1cs_to_qap::R1CSToQAP, Groth16};
use ark_poly::EvaluationDomain;
use ark_relations::gr1cs::{ConstraintSystemRef, SynthesisError};
use ark_relations::utils::matrix::Matrix;
use ark_std::{test_rng, UniformRand};
use rayon::prelude::*;
use std::time::Instant;

/// Fewest rows or elements of a task of a thread.
const PER_TASK: usize = 256;

/// The quotient as snarkjs has it: values of A·B − C on the coset of odd powers of a root of order 2n, as
/// its keys have the points of H for them.
struct OddPowers;

type Maps<F> = Result<(Vec<F>, Vec<F>, Vec<F>, F, usize, usize), SynthesisError>;

impl R1CSToQAP for OddPowers {
    fn witness_map_from_matrices<F: PrimeField, D: EvaluationDomain<F>>(
        matrices: &[Matrix<F>],
        _: usize,
        _: usize,
        witness: &[F],
    ) -> Result<Vec<F>, SynthesisError> {
        let n = matrices[0].len();
        let domain = D::new(n).ok_or(SynthesisError::PolynomialDegreeTooLarge)?;
        let root = D::new(2 * n).ok_or(SynthesisError::PolynomialDegreeTooLarge)?.element(1);
        let times_witness = |row: &Vec<(F, usize)>| -> F {
            let term = |&(factor, at): &(F, usize)| if factor.is_one() { witness[at] } else { factor * witness[at] };
            row.iter().map(term).sum()
        };
        let product = |matrix: &Matrix<F>| -> Vec<F> {
            matrix.par_iter().with_min_len(PER_TASK).map(times_witness).collect()
        };
        let (mut a, mut b) = (product(&matrices[0]), product(&matrices[1]));
        let mut c: Vec<F> = a.par_iter().zip(&b).with_min_len(PER_TASK).map(|(x, y)| *x * y).collect();
        for values in [&mut a, &mut b, &mut c] {
            domain.ifft_in_place(values);
            D::distribute_powers(values, root);
            domain.fft_in_place(values);
        }
        a.par_iter_mut().zip(&b).zip(&c).with_min_len(PER_TASK).for_each(|((x, y), z)| *x = *x * y - z);
        Ok(a)
    }

    // of setups, which this program does not make

    fn instance_map_with_evaluation<F: PrimeField, D: EvaluationDomain<F>>(_: ConstraintSystemRef<F>, _: &F) -> Maps<F> {
        Err(SynthesisError::Unsatisfiable)
    }

    fn h_query_scalars<F: PrimeField, D: EvaluationDomain<F>>(_: usize, _: F, _: F, _: F) -> Result<Vec<F>, SynthesisError> {
        Err(SynthesisError::Unsatisfiable)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().expect("a number");
    let read = |at: usize| std::fs::read(&arguments[at]).expect("a file");
    rayon::ThreadPoolBuilder::new().num_threads(number(3)).build_global().expect("threads");
    let files::Circuit { key, matrices } = files::circuit(&read(0));
    let witness: Vec<Fr> = files::witness(&read(1));
    let inputs = key.vk.gamma_abc_g1.len();
    let verifier = prepare_verifying_key(&key.vk);
    let mut random = test_rng();
    for repetition in 0..=number(2) {
        let (r, s) = (Fr::rand(&mut random), Fr::rand(&mut random));
        let begun = Instant::now();
        let proof = Groth16::<Bn254, OddPowers>::create_proof_with_reduction_and_matrices(
            &key,
            r,
            s,
            &matrices,
            inputs,
            matrices[0].len(),
            &witness,
        )
        .expect("a proof");
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let is_right = Groth16::<Bn254, OddPowers>::verify_proof(&verifier, &proof, &witness[1..inputs]);
        assert!(is_right.expect("a verdict"), "the proof does not verify");
        if repetition > 0 {
            println!("{ms}");
        }
    }
}
