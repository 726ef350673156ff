// Writes KZG SRS of 8 points as gnark-crypto v0.22.0 does, each way that it has, and what their files hash to. The lines of the verifying keys, which are most
// of a file and the same in all ways, are cut out of them and go into a file of their own.
//
//	go run . > gnark.sha256
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/big"
	"os"

	bls377 "github.com/consensys/gnark-crypto/ecc/bls12-377/kzg"
	bls381 "github.com/consensys/gnark-crypto/ecc/bls12-381/kzg"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254/kzg"
)

const points = 8

var alpha = big.NewInt(0xa1fa)

type srs interface {
	io.WriterTo
	WriteRawTo(w io.Writer) (int64, error)
	WriteDump(w io.Writer, maxPkPoints ...int) error
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func save(name string, data []byte) {
	check(os.WriteFile(name, data, 0o644))
}

// Of what a curve's G1 takes in bytes, raw, and how many bytes of lines there are.
func write(curve string, g1 int, lines int, of srs, err error) {
	check(err)
	var compressed, raw, dump bytes.Buffer
	_, err = of.WriteTo(&compressed)
	check(err)
	_, err = of.WriteRawTo(&raw)
	check(err)
	check(of.WriteDump(&dump))
	save("gnark-"+curve+".lines", raw.Bytes()[raw.Len()-lines:])
	for _, file := range []struct {
		form string
		data []byte
		at   int
	}{
		{"compressed", compressed.Bytes(), compressed.Len() - lines},
		{"raw", raw.Bytes(), raw.Len() - lines},
		{"dump", dump.Bytes(), 5 * g1},
	} {
		name := "gnark-" + curve + "-" + file.form + ".srs"
		fmt.Printf("%x  %d  %s\n", sha256.Sum256(file.data), file.at, name)
		save(name, append(append([]byte{}, file.data[:file.at]...), file.data[file.at+lines:]...))
	}
}

func main() {
	a, err := bn254.NewSRS(points, alpha)
	write("bn254", 64, 8*66*64, a, err)
	b, err := bls381.NewSRS(points, alpha)
	write("bls12-381", 96, 8*63*96, b, err)
	c, err := bls377.NewSRS(points, alpha)
	write("bls12-377", 96, 8*63*96, c, err)
}
