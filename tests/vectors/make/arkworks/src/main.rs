//! Points as arkworks writes them, points outside the subgroups, the constants of the fast tests for that, transforms
//! and roots of unity. `cargo run -- FOLDER` writes arkworks.json, outsiders.json, endomorphisms.json, transforms.json
//! and roots.json there.

mod roots;
mod transforms;

use std::{env, fs, ops::Neg};

use ark_ec::{
    models::CurveConfig,
    short_weierstrass::{self, SWCurveConfig},
    twisted_edwards::{self, TECurveConfig},
    AffineRepr, CurveGroup,
};
use ark_ff::{AdditiveGroup, BigInteger, Field, MontFp, PrimeField, Zero};
use ark_serialize::CanonicalSerialize;
use num_bigint::BigUint;
use serde_json::{json, Map, Value};

const SOFTWARE: &str = "arkworks 0.6.0";
const SCALARS: &str = include_str!("../../scalars.txt");

fn big(value: impl PrimeField) -> BigUint {
    value.into_bigint().into()
}

/// 0, 1, 2, 3, r − 1, r − 2, 5, 1234567890123456789, and those of scalars.txt.
fn scalars<F: PrimeField>() -> Vec<F> {
    let from_text = |text: &str| F::from(text.parse::<BigUint>().unwrap());
    [F::zero(), F::one(), F::from(2u64), F::from(3u64), -F::one(), -F::from(2u64), F::from(5u64)]
        .into_iter()
        .chain([from_text("1234567890123456789")])
        .chain(SCALARS.lines().map(from_text))
        .collect()
}

fn decimals<F: PrimeField>(values: &[F]) -> Vec<String> {
    values.iter().map(|value| big(*value).to_string()).collect()
}

fn multiples<G: CurveGroup>() -> Vec<G::Affine> {
    scalars::<G::ScalarField>()
        .into_iter()
        .map(|k| (G::generator() * k).into_affine())
        .collect()
}

fn encoded<G: CurveGroup>(curve: &str, group: &str) -> Value {
    let in_hex = |write: fn(&G::Affine, &mut Vec<u8>)| -> Vec<String> {
        multiples::<G>()
            .iter()
            .map(|point| {
                let mut bytes = Vec::new();
                write(point, &mut bytes);
                hex::encode(bytes)
            })
            .collect()
    };
    json!({
        "curve": curve,
        "group": group,
        "order": G::ScalarField::MODULUS.to_string(),
        "k": decimals(&scalars::<G::ScalarField>()),
        "encodings": {
            "ark": in_hex(|point, bytes| point.serialize_uncompressed(bytes).unwrap()),
            "ark-compressed": in_hex(|point, bytes| point.serialize_compressed(bytes).unwrap()),
        },
    })
}

/// A coordinate: one decimal, or [c0, c1].
fn coordinate<F: Field>(value: F) -> Value {
    let parts: Vec<BigUint> = value.to_base_prime_field_elements().map(big).collect();
    match parts.as_slice() {
        [only] => json!(only.to_string()),
        _ => json!(parts.iter().map(BigUint::to_string).collect::<Vec<_>>()),
    }
}

fn in_bytes_of_hex<F: PrimeField>(value: F) -> String {
    format!("0x{}", hex::encode(value.into_bigint().to_bytes_be()))
}

fn in_hex<F: Field>(value: F) -> Value {
    let parts: Vec<String> = value.to_base_prime_field_elements().map(in_bytes_of_hex).collect();
    match parts.as_slice() {
        [only] => json!(only),
        _ => json!(parts),
    }
}

fn cofactor<P: CurveConfig>() -> BigUint {
    P::COFACTOR.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

fn modulus<F: Field>() -> String {
    F::BasePrimeField::MODULUS.to_string()
}

fn edwards<P: TECurveConfig>(curve: &str) -> Map<String, Value> {
    let points: Vec<Value> = multiples::<twisted_edwards::Projective<P>>()
        .iter()
        .map(|point| json!([coordinate(point.x), coordinate(point.y)]))
        .collect();
    let value = json!({
        "curve": curve,
        "p": modulus::<P::BaseField>(),
        "a": coordinate(P::COEFF_A),
        "d": coordinate(P::COEFF_D),
        "order": P::ScalarField::MODULUS.to_string(),
        "cofactor": cofactor::<P>().to_string(),
        "k": decimals(&scalars::<P::ScalarField>()),
        "points": points,
    });
    value.as_object().unwrap().clone()
}

/// The same, and its Weierstrass form, whose generator is the crate's own too. Infinity is null.
fn edwards_and_weierstrass<P: TECurveConfig + SWCurveConfig>(curve: &str) -> Map<String, Value> {
    let points: Vec<Value> = multiples::<short_weierstrass::Projective<P>>()
        .iter()
        .map(|point| point.xy().map_or(Value::Null, |(x, y)| json!([coordinate(x), coordinate(y)])))
        .collect();
    let mut all = edwards::<P>(curve);
    let form = json!({
        "a": coordinate(<P as SWCurveConfig>::COEFF_A),
        "b": coordinate(P::COEFF_B),
        "points": points,
    });
    all.insert("weierstrass".into(), form);
    all
}

/// By doubling and adding: arkworks' own products reduce the scalar modulo r and use endomorphisms, right in the subgroup only.
fn times<P: SWCurveConfig>(k: &BigUint, point: short_weierstrass::Affine<P>) -> short_weierstrass::Affine<P> {
    let mut sum = short_weierstrass::Projective::<P>::zero();
    for i in (0..k.bits()).rev() {
        sum.double_in_place();
        if k.bit(i) {
            sum += point;
        }
    }
    sum.into_affine()
}

/// Of the i-th x from a start on that is one of a point's.
fn on_curve<P: SWCurveConfig>(start: usize) -> short_weierstrass::Affine<P> {
    let mut numbers = SCALARS.lines().cycle().skip(start).map(|line| line.parse::<BigUint>().unwrap());
    let degree = P::BaseField::extension_degree() as usize;
    let parts = numbers.by_ref().take(degree).map(|number| <P::BaseField as Field>::BasePrimeField::from(number));
    let mut x = P::BaseField::from_base_prime_field_elems(parts).unwrap();
    loop {
        match short_weierstrass::Affine::<P>::get_point_from_x_unchecked(x, start % 2 == 0) {
            Some(point) => return point,
            None => x += P::BaseField::ONE,
        }
    }
}

fn small_primes_of(mut number: BigUint) -> Vec<u32> {
    let mut primes = Vec::new();
    for l in 2..1u32 << 16 {
        if (&number % l) != BigUint::ZERO {
            continue;
        }
        primes.push(l);
        while (&number % l) == BigUint::ZERO {
            number /= l;
        }
    }
    primes
}

fn of_order<P: SWCurveConfig>(l: u32) -> short_weierstrass::Affine<P> {
    let l = BigUint::from(l);
    let mut rest: BigUint = cofactor::<P>() * Into::<BigUint>::into(P::ScalarField::MODULUS);
    while (&rest % &l) == BigUint::ZERO {
        rest /= &l;
    }
    let mut point = (0..).map(|start| times(&rest, on_curve::<P>(start))).find(|point| !point.is_zero()).unwrap();
    loop {
        let next = times(&l, point);
        if next.is_zero() {
            return point;
        }
        point = next;
    }
}

fn is_outside<P: SWCurveConfig>(point: &short_weierstrass::Affine<P>) -> bool {
    let in_subgroup = times(&P::ScalarField::MODULUS.into(), *point).is_zero();
    assert!(point.is_on_curve());
    assert_eq!(point.is_in_correct_subgroup_assuming_on_curve(), in_subgroup);
    !in_subgroup
}

fn outsiders<P: SWCurveConfig>(curve: &str, group: &str) -> Value {
    let in_json = |point: short_weierstrass::Affine<P>| {
        assert!(is_outside(&point));
        json!({ "x": coordinate(point.x), "y": coordinate(point.y) })
    };
    let of_small_order = |l: u32| {
        let mut point = in_json(of_order::<P>(l));
        point.as_object_mut().unwrap().insert("order".into(), json!(l.to_string()));
        point
    };
    json!({
        "curve": curve,
        "group": group,
        "cofactor": cofactor::<P>().to_string(),
        "points": (0..4).map(|i| in_json(on_curve::<P>(i))).collect::<Vec<_>>(),
        "ofSmallOrder": small_primes_of(cofactor::<P>()).into_iter().map(of_small_order).collect::<Vec<_>>(),
    })
}

fn with_sign<P: SWCurveConfig>(point: short_weierstrass::Affine<P>, negative: bool) -> short_weierstrass::Affine<P> {
    if negative { point.neg() } else { point }
}

/// That `map` is the product by ±k on the subgroup, and that it tells what arkworks' test of membership tells.
fn is_product<P: SWCurveConfig>(
    k: &BigUint,
    negative: bool,
    map: impl Fn(P::BaseField, P::BaseField) -> (P::BaseField, P::BaseField),
) {
    let holds = |point: short_weierstrass::Affine<P>| {
        let (x, y) = map(point.x, point.y);
        with_sign(times(k, point), negative).xy() == Some((x, y))
    };
    for point in multiples::<short_weierstrass::Projective<P>>() {
        assert!(point.is_zero() || holds(point));
    }
    for i in 0..8 {
        let point = on_curve::<P>(i);
        assert_eq!(holds(point), !is_outside(&point));
    }
    for l in small_primes_of(cofactor::<P>()) {
        assert!(!holds(of_order::<P>(l)));
    }
}

/// φ(x, y) = (β·x, y) is the product by λ, for the β that arkworks has or its square, whichever it is true of.
fn beta<P: SWCurveConfig>(root: P::BaseField, k: &BigUint, negative: bool) -> P::BaseField {
    let generator = P::GENERATOR;
    let wanted = with_sign(times(k, generator), negative);
    let found = [root, root.square()].into_iter().find(|beta| *beta * generator.x == wanted.x).unwrap();
    is_product::<P>(k, negative, |x, y| (found * x, y));
    found
}

/// ψ(x, y) = (x̄·cx, ȳ·cy) is the product by p modulo r: untwist, Frobenius, twist. `w6` is what the sixth root of the twist is of.
fn psi<P: SWCurveConfig>(w6: P::BaseField, k: &BigUint, negative: bool) -> Value {
    let p = <P::BaseField as Field>::BasePrimeField::MODULUS.into();
    let less_one: BigUint = p - 1u32;
    let cx = w6.pow((&less_one / 3u32).to_u64_digits());
    let cy = w6.pow((&less_one / 2u32).to_u64_digits());
    is_product::<P>(k, negative, |x, y| (x.frobenius_map(1) * cx, y.frobenius_map(1) * cy));
    json!({ "x": in_hex(cx), "y": in_hex(cy) })
}

fn hex_of(value: &BigUint, negative: bool) -> String {
    format!("{}0x{value:x}", if negative { "-" } else { "" })
}

/// `w6`: of the sixth root in ψ. An M-twist has 1/ξ, a D-twist ξ.
fn bls12<C: ark_ec::bls12::Bls12Config>(curve: &str, root: C::Fp, w6: <C::G2Config as CurveConfig>::BaseField) -> Value {
    let seed = BigUint::from(C::X[0]);
    let square = &seed * &seed;
    json!({
        "curve": curve,
        "seed": hex_of(&seed, C::X_IS_NEGATIVE),
        "beta": in_hex(beta::<C::G1Config>(root, &square, true)),
        "lambda": hex_of(&square, true),
        "psi": psi::<C::G2Config>(w6, &seed, C::X_IS_NEGATIVE),
        "mu": hex_of(&seed, C::X_IS_NEGATIVE),
    })
}

fn main() {
    let folder = env::args().nth(1).expect("the folder to write to");
    let write = |name: &str, value: Value| {
        let text = serde_json::to_string_pretty(&value).unwrap();
        fs::write(format!("{folder}/{name}.json"), text + "\n").unwrap();
    };

    let curves = [
        encoded::<ark_bn254::G1Projective>("bn254", "g1"),
        encoded::<ark_bn254::G2Projective>("bn254", "g2"),
        encoded::<ark_bls12_381::G1Projective>("bls12-381", "g1"),
        encoded::<ark_bls12_381::G2Projective>("bls12-381", "g2"),
        encoded::<ark_bls12_377::G1Projective>("bls12-377", "g1"),
        encoded::<ark_bls12_377::G2Projective>("bls12-377", "g2"),
        encoded::<ark_grumpkin::Projective>("grumpkin", "g1"),
        encoded::<ark_pallas::Projective>("pallas", "g1"),
        encoded::<ark_vesta::Projective>("vesta", "g1"),
        encoded::<ark_secp256k1::Projective>("secp256k1", "g1"),
        encoded::<ark_secp256r1::Projective>("p256", "g1"),
    ];
    let twisted = [
        edwards::<ark_ed_on_bn254::EdwardsConfig>("ed-on-bn254"),
        edwards_and_weierstrass::<ark_ed_on_bls12_381::JubjubConfig>("jubjub"),
        edwards_and_weierstrass::<ark_ed_on_bls12_381_bandersnatch::BandersnatchConfig>("bandersnatch"),
    ];
    write("arkworks", json!({ "software": SOFTWARE, "curves": curves, "edwards": twisted }));

    let fields = [
        transforms::transforms::<ark_bn254::Fr>("bn254"),
        transforms::transforms::<ark_bls12_381::Fr>("bls12-381"),
        transforms::transforms::<ark_bls12_377::Fr>("bls12-377"),
        transforms::transforms::<ark_pallas::Fr>("pallas"),
        transforms::transforms::<ark_vesta::Fr>("vesta"),
    ];
    write("transforms", json!({ "software": SOFTWARE, "fields": fields }));

    let fields = [
        roots::roots::<ark_bn254::Fr>("bn254"),
        roots::roots::<ark_bls12_381::Fr>("bls12-381"),
        roots::roots::<ark_bls12_377::Fr>("bls12-377"),
        roots::roots::<ark_grumpkin::Fr>("grumpkin"),
        roots::roots::<ark_pallas::Fr>("pallas"),
        roots::roots::<ark_vesta::Fr>("vesta"),
        roots::roots::<ark_secp256k1::Fr>("secp256k1"),
        roots::roots::<ark_secp256r1::Fr>("p256"),
        roots::roots::<ark_ed_on_bn254::Fr>("baby-jubjub"),
        roots::roots::<ark_ed_on_bls12_381::Fr>("jubjub"),
        roots::roots::<ark_ed_on_bls12_381_bandersnatch::Fr>("bandersnatch"),
        roots::roots::<ark_ed25519::Fr>("ed25519"),
    ];
    write("roots", json!({ "software": SOFTWARE, "fields": fields }));

    let groups = [
        outsiders::<ark_bn254::g2::Config>("bn254", "g2"),
        outsiders::<ark_bls12_381::g1::Config>("bls12-381", "g1"),
        outsiders::<ark_bls12_381::g2::Config>("bls12-381", "g2"),
        outsiders::<ark_bls12_377::g1::Config>("bls12-377", "g1"),
        outsiders::<ark_bls12_377::g2::Config>("bls12-377", "g2"),
    ];
    write("outsiders", json!({ "software": SOFTWARE, "groups": groups }));

    // Cube roots of unity.
    let root_381: ark_bls12_381::Fq = root_of_unity();
    let root_377: ark_bls12_377::Fq = root_of_unity();
    let root_254: ark_bn254::Fq = root_of_unity();

    let seed = BigUint::from(4965661367192848881u64);
    let (six, square) = (BigUint::from(6u32), &seed * &seed);
    // λ² + λ + 1 = 0 modulo r; p ≡ 6x² modulo r. The first is Barreto and Naehrig's, https://eprint.iacr.org/2005/133.
    let lambda = BigUint::from(36u32) * &square * &seed + BigUint::from(18u32) * &square + &six * &seed + 1u32;
    let mu = &six * &square;
    let xi = ark_bn254::Fq2::new(MontFp!("9"), MontFp!("1"));
    let bn254 = json!({
        "curve": "bn254",
        "seed": hex_of(&seed, false),
        "beta": in_hex(beta::<ark_bn254::g1::Config>(root_254, &lambda, false)),
        "lambda": hex_of(&lambda, false),
        "psi": psi::<ark_bn254::g2::Config>(xi, &mu, false),
        "mu": hex_of(&mu, false),
    });
    let xi_381 = ark_bls12_381::Fq2::new(MontFp!("1"), MontFp!("1"));
    let xi_377 = ark_bls12_377::Fq2::new(MontFp!("0"), MontFp!("1"));
    let endomorphisms = [
        bn254,
        bls12::<ark_bls12_381::Config>("bls12-381", root_381, xi_381.inverse().unwrap()),
        bls12::<ark_bls12_377::Config>("bls12-377", root_377, xi_377),
    ];
    write("endomorphisms", json!({ "software": SOFTWARE, "curves": endomorphisms }));
}

/// (−1 + √−3) / 2.
fn root_of_unity<F: PrimeField>() -> F {
    let root = (-F::from(3u64)).sqrt().unwrap();
    (root - F::one()) / F::from(2u64)
}
