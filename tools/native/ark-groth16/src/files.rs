//! Files of snarkjs on BN254: sections after 12 bytes of header, integers little-endian, coordinates of
//! points times 2^256 (Montgomery form), factors of the matrices times 2^512, values of witnesses as they are.
use ark_bn254::{Bn254, Fq, Fq2, Fr, G1Affine, G2Affine};
use ark_ff::{BigInt, PrimeField, Zero};
use ark_groth16::{ProvingKey, VerifyingKey};
use ark_relations::utils::matrix::Matrix;

const WORD: usize = 32;

/// A key with the matrices A and B of its circuit.
pub struct Circuit {
    pub key: ProvingKey<Bn254>,
    pub matrices: Vec<Matrix<Fr>>,
}

fn integer(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}

/// Returns the sections by their numbers.
fn sections(bytes: &[u8]) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = vec![&[]; 16];
    let mut at = 12;
    for _ in 0..integer(bytes, 8) {
        let length = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().expect("eight bytes")) as usize;
        all[integer(bytes, at)] = &bytes[at + 12..at + 12 + length];
        at += 12 + length;
    }
    all
}

fn limbs(bytes: &[u8]) -> BigInt<4> {
    BigInt(std::array::from_fn(|i| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"))))
}

fn coordinate(bytes: &[u8], at: usize) -> Fq {
    Fq::new_unchecked(limbs(&bytes[at * WORD..(at + 1) * WORD]))
}

fn g1(bytes: &[u8]) -> G1Affine {
    let (x, y) = (coordinate(bytes, 0), coordinate(bytes, 1));
    if x.is_zero() && y.is_zero() {
        return G1Affine::identity();
    }
    G1Affine::new_unchecked(x, y)
}

fn g2(bytes: &[u8]) -> G2Affine {
    let pair = |at: usize| Fq2::new(coordinate(bytes, at), coordinate(bytes, at + 1));
    let (x, y) = (pair(0), pair(2));
    if x.is_zero() && y.is_zero() {
        return G2Affine::identity();
    }
    G2Affine::new_unchecked(x, y)
}

fn all_g1(bytes: &[u8]) -> Vec<G1Affine> {
    bytes.chunks(2 * WORD).map(g1).collect()
}

/// Reads a .zkey of Groth16.
pub fn circuit(bytes: &[u8]) -> Circuit {
    let all = sections(bytes);
    // two primes with their lengths, then the numbers of variables, public signals and the domain, then points
    let header = all[2];
    let (domain, mut at) = (integer(header, 80), 84);
    let mut next = |length: usize| {
        at += length;
        &header[at - length..at]
    };
    let (alpha_g1, beta_g1) = (g1(next(2 * WORD)), g1(next(2 * WORD)));
    let (beta_g2, gamma_g2) = (g2(next(4 * WORD)), g2(next(4 * WORD)));
    let (delta_g1, delta_g2) = (g1(next(2 * WORD)), g2(next(4 * WORD)));
    let key = ProvingKey {
        vk: VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, gamma_abc_g1: all_g1(all[3]) },
        beta_g1,
        delta_g1,
        a_query: all_g1(all[5]),
        b_g1_query: all_g1(all[6]),
        b_g2_query: all[7].chunks(4 * WORD).map(g2).collect(),
        l_query: all_g1(all[8]),
        h_query: all_g1(all[9]),
    };
    let mut matrices: Vec<Matrix<Fr>> = vec![vec![vec![]; domain]; 2];
    // after their number: the matrix, row and column of each factor, and the factor
    for entry in all[4][4..].chunks(12 + WORD) {
        let factor = Fr::new_unchecked(Fr::new_unchecked(limbs(&entry[12..])).into_bigint());
        matrices[integer(entry, 0)][integer(entry, 4)].push((factor, integer(entry, 8)));
    }
    Circuit { key, matrices }
}

/// Reads a .wtns.
pub fn witness(bytes: &[u8]) -> Vec<Fr> {
    let values = sections(bytes)[2].chunks(WORD);
    values.map(|value| Fr::from_bigint(limbs(value)).expect("a value below r")).collect()
}
