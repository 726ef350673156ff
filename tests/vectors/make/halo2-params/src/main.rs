//! Writes KZG parameters of 2^3 points as halo2-axiom 0.5.3 does, in the two formats that there are, and prints the points.
//!
//!     cargo run --locked > halo2-bn254.txt
use halo2_axiom::halo2curves::bn256::Bn256;
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::SerdeFormat;
use rand_chacha::rand_core::SeedableRng;
use std::fs::File;

fn main() -> std::io::Result<()> {
    let params = ParamsKZG::<Bn256>::setup(3, rand_chacha::ChaCha20Rng::seed_from_u64(1));
    params.write_custom(&mut File::create("halo2-bn254-raw.params")?, SerdeFormat::RawBytes)?;
    params.write_custom(&mut File::create("halo2-bn254-processed.params")?, SerdeFormat::Processed)?;
    let mut default = Vec::new();
    params.write(&mut default)?;
    assert_eq!(default, std::fs::read("halo2-bn254-raw.params")?);
    println!("k = {}", params.k());
    println!("g = {:?}", params.get_g());
    println!("g2 = {:?}", params.g2());
    println!("s_g2 = {:?}", params.s_g2());
    Ok(())
}
