//! Transforms by arkworks' radix-2 domains, on subgroups and on the coset of the field's generator.

use ark_ff::{FftField, PrimeField};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use serde_json::{json, Value};

use crate::{decimals, scalars};

/// Sizes of the transforms, at most 16: the number of scalars.
const SIZES: [usize; 4] = [1, 2, 8, 16];

/// Values of the polynomials whose coefficients are the first scalars.
pub fn transforms<F: PrimeField + FftField>(curve: &str) -> Value {
    let coefficients = scalars::<F>();
    let sizes: Vec<Value> = SIZES
        .iter()
        .map(|&n| {
            let domain = Radix2EvaluationDomain::<F>::new(n).unwrap();
            let coset = domain.get_coset(F::GENERATOR).unwrap();
            let own = &coefficients[..n];
            let [values, on_coset] = [domain.fft(own), coset.fft(own)];
            assert_eq!(domain.ifft(&values), own);
            assert_eq!(coset.ifft(&on_coset), own);
            json!({
                "n": n,
                "values": decimals(&values),
                "onCoset": decimals(&on_coset),
                "inverse": decimals(&domain.ifft(own)),
            })
        })
        .collect();
    json!({
        "curve": curve,
        "p": F::MODULUS.to_string(),
        "generator": decimals(&[F::GENERATOR])[0],
        "coefficients": decimals(&coefficients),
        "sizes": sizes,
    })
}
