//! Roots of unity that arkworks' radix-2 domains have.

use ark_ff::PrimeField;
use serde_json::{json, Map, Value};

use crate::decimals;

/// Roots of the orders 2^1, 2^5 and 2^twoAdicity, where the field has them.
pub fn roots<F: PrimeField>(curve: &str) -> Value {
    let mut orders: Vec<u32> = [1, 5, F::TWO_ADICITY].into_iter().filter(|&k| k <= F::TWO_ADICITY).collect();
    orders.dedup();
    let roots: Map<String, Value> = orders
        .into_iter()
        .map(|k| (k.to_string(), json!(decimals(&[F::get_root_of_unity(1 << k).unwrap()])[0])))
        .collect();
    json!({
        "curve": curve,
        "p": F::MODULUS.to_string(),
        "twoAdicity": F::TWO_ADICITY,
        "generator": decimals(&[F::GENERATOR])[0],
        "roots": roots,
    })
}
