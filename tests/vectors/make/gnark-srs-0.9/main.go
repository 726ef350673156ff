// Writes KZG SRS of 8 points as gnark-crypto v0.9.1 does, which had no keys yet: the points in G2 come first.
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
	save("gnark-0.9-bn254.srs", a)
	b, err := bls381.NewSRS(8, alpha)
	check(err)
	save("gnark-0.9-bls12-381.srs", b)
}
