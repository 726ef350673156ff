//! Points as zkcrypto's bls12_381 writes them. `cargo run -- FILE` writes zkcrypto.json there.

use std::{env, fs};

use bls12_381::{G1Affine, G2Affine, Scalar};
use num_bigint::BigUint;
use serde_json::{json, Value};

/// 0, 1, 2, 3, r − 1, r − 2, 5, 1234567890123456789, and those of scalars.txt.
fn scalars() -> Vec<Scalar> {
    let from_text = |text: &str| {
        let mut bytes = text.parse::<BigUint>().unwrap().to_bytes_le();
        bytes.resize(32, 0);
        Scalar::from_bytes(&bytes.try_into().unwrap()).unwrap()
    };
    [Scalar::zero(), Scalar::one(), Scalar::from(2), Scalar::from(3), -Scalar::one(), -Scalar::from(2), Scalar::from(5)]
        .into_iter()
        .chain([from_text("1234567890123456789")])
        .chain(include_str!("../../scalars.txt").lines().map(from_text))
        .collect()
}

fn decimal(value: Scalar) -> String {
    BigUint::from_bytes_le(&value.to_bytes()).to_string()
}

fn encoded(group: &str, uncompressed: impl Fn(Scalar) -> String, compressed: impl Fn(Scalar) -> String) -> Value {
    let ks = scalars();
    json!({
        "curve": "bls12-381",
        "group": group,
        "order": (BigUint::from_bytes_le(&(-Scalar::one()).to_bytes()) + 1u32).to_string(),
        "k": ks.iter().copied().map(decimal).collect::<Vec<_>>(),
        "encodings": {
            "zcash": ks.iter().copied().map(uncompressed).collect::<Vec<_>>(),
            "zcash-compressed": ks.iter().copied().map(compressed).collect::<Vec<_>>(),
        },
    })
}

fn main() {
    let file = env::args().nth(1).expect("the file to write");
    let g1 = |k: Scalar| G1Affine::from(G1Affine::generator() * k);
    let g2 = |k: Scalar| G2Affine::from(G2Affine::generator() * k);
    let curves = [
        encoded("g1", |k| hex::encode(g1(k).to_uncompressed()), |k| hex::encode(g1(k).to_compressed())),
        encoded("g2", |k| hex::encode(g2(k).to_uncompressed()), |k| hex::encode(g2(k).to_compressed())),
    ];
    let all = json!({ "software": "bls12_381 0.9.0", "curves": curves });
    fs::write(file, serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
}
