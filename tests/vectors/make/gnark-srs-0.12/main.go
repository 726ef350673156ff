// Writes KZG SRS of 8 points as gnark-crypto v0.12.1 does, which had no lines in verifying keys yet; and a proving key alone.
//
//	go run .
package main

import (
	"bytes"
	"io"
	"math/big"
	"os"

	bls381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr/kzg"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254/fr/kzg"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func save(name string, of io.WriterTo) {
	var data bytes.Buffer
	_, err := of.WriteTo(&data)
	check(err)
	check(os.WriteFile(name, data.Bytes(), 0o644))
}

func main() {
	alpha := big.NewInt(0xa1fa)
	a, err := bn254.NewSRS(8, alpha)
	check(err)
	save("gnark-0.12-bn254.srs", a)
	save("gnark-0.12-bn254.pk", &a.Pk)
	b, err := bls381.NewSRS(8, alpha)
	check(err)
	save("gnark-0.12-bls12-381.srs", b)
}
