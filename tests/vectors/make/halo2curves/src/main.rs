//! Points as halo2curves writes them. `cargo run -- FILE` writes halo2curves.json there.

use std::{env, fs};

use halo2curves::{
    bls12381, bn256,
    ff::PrimeField,
    group::{prime::PrimeCurveAffine, Curve, GroupEncoding, UncompressedEncoding},
    grumpkin, pasta, secp256k1, secp256r1,
    serde::SerdeObject,
};
use num_bigint::BigUint;
use serde_json::{json, Value};

/// 0, 1, 2, 3, r − 1, r − 2, 5, 1234567890123456789, and those of scalars.txt.
fn scalars<F: PrimeField>() -> Vec<F> {
    let from_text = |text: &str| F::from_str_vartime(text).unwrap();
    [F::ZERO, F::ONE, F::from(2), F::from(3), -F::ONE, -F::from(2), F::from(5)]
        .into_iter()
        .chain([from_text("1234567890123456789")])
        .chain(include_str!("../../scalars.txt").lines().map(from_text))
        .collect()
}

fn decimal<F: PrimeField<Repr: AsRef<[u8]>>>(value: F) -> BigUint {
    BigUint::from_bytes_le(value.to_repr().as_ref())
}

fn encoded<A>(curve: &str, group: &str) -> Value
where
    A: PrimeCurveAffine + GroupEncoding + UncompressedEncoding + SerdeObject,
    A::Curve: Curve<AffineRepr = A>,
{
    let ks = scalars::<A::Scalar>();
    let points: Vec<A> = ks.iter().map(|k| (A::generator() * *k).to_affine()).collect();
    let in_hex = |write: fn(&A) -> String| points.iter().map(write).collect::<Vec<_>>();
    json!({
        "curve": curve,
        "group": group,
        "order": (decimal(ks[4]) + 1u32).to_string(),
        "k": ks.iter().map(|k| decimal(*k).to_string()).collect::<Vec<_>>(),
        "encodings": {
            "le-montgomery": in_hex(|point| hex::encode(point.to_raw_bytes())),
            "halo2": in_hex(|point| hex::encode(point.to_uncompressed())),
            "halo2-compressed": in_hex(|point| hex::encode(point.to_bytes())),
        },
    })
}

fn main() {
    let file = env::args().nth(1).expect("the file to write");
    let curves = [
        encoded::<bn256::G1Affine>("bn254", "g1"),
        encoded::<bn256::G2Affine>("bn254", "g2"),
        encoded::<bls12381::G1Affine>("bls12-381", "g1"),
        encoded::<bls12381::G2Affine>("bls12-381", "g2"),
        encoded::<grumpkin::G1Affine>("grumpkin", "g1"),
        encoded::<pasta::PallasAffine>("pallas", "g1"),
        encoded::<pasta::VestaAffine>("vesta", "g1"),
        encoded::<secp256k1::Secp256k1Affine>("secp256k1", "g1"),
        encoded::<secp256r1::Secp256r1Affine>("p256", "g1"),
    ];
    let all = json!({ "software": "halo2curves 0.10.0", "curves": curves });
    fs::write(file, serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
}
