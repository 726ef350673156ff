// Points as gnark-crypto writes them, and its roots of unity. `go run . FILE` writes gnark.json there.
package main

import (
	"encoding/hex"
	"encoding/json"
	"log"
	"math/big"
	"os"
	"strconv"
	"strings"

	bls12377 "github.com/consensys/gnark-crypto/ecc/bls12-377"
	fr377 "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	fft377 "github.com/consensys/gnark-crypto/ecc/bls12-377/fr/fft"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/bandersnatch"
	fr381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	fft381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	jubjub "github.com/consensys/gnark-crypto/ecc/bls12-381/twistededwards"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	fr254 "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	fft254 "github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	onBn254 "github.com/consensys/gnark-crypto/ecc/bn254/twistededwards"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"
	frGrumpkin "github.com/consensys/gnark-crypto/ecc/grumpkin/fr"
	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	frK1 "github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/consensys/gnark-crypto/ecc/secp256r1"
	frR1 "github.com/consensys/gnark-crypto/ecc/secp256r1/fr"
)

type encodings struct {
	Raw        []string `json:"gnark"`
	Compressed []string `json:"gnark-compressed,omitempty"`
}

type set struct {
	Curve     string    `json:"curve"`
	Group     string    `json:"group"`
	Order     string    `json:"order"`
	K         []string  `json:"k"`
	Encodings encodings `json:"encodings"`
}

type edwards struct {
	Curve    string      `json:"curve"`
	P        string      `json:"p"`
	A        string      `json:"a"`
	D        string      `json:"d"`
	Order    string      `json:"order"`
	Cofactor string      `json:"cofactor"`
	K        []string    `json:"k"`
	Points   [][2]string `json:"points"`
}

// Roots of unity by the logarithms of their orders.
type field struct {
	Curve string            `json:"curve"`
	P     string            `json:"p"`
	Roots map[string]string `json:"roots"`
}

type vectors struct {
	Software string    `json:"software"`
	Curves   []set     `json:"curves"`
	Edwards  []edwards `json:"edwards"`
	Fields   []field   `json:"fields"`
}

// roots: generator gives the root of unity of a domain.
func roots(curve string, p *big.Int, twoAdicity int, generator func(m uint64) (decimal, error)) field {
	result := field{Curve: curve, P: p.String(), Roots: map[string]string{}}
	for _, k := range []int{1, 5, twoAdicity} {
		root, err := generator(1 << k)
		if err != nil {
			log.Fatal(err)
		}
		result.Roots[strconv.Itoa(k)] = canonical(root, p)
	}
	return result
}

// 0, 1, 2, 3, r − 1, r − 2, 5, 1234567890123456789, and those of scalars.txt.
func scalars(order *big.Int) []*big.Int {
	text, err := os.ReadFile("../scalars.txt")
	if err != nil {
		log.Fatal(err)
	}
	small := []*big.Int{big.NewInt(0), big.NewInt(1), big.NewInt(2), big.NewInt(3)}
	below := []*big.Int{new(big.Int).Sub(order, big.NewInt(1)), new(big.Int).Sub(order, big.NewInt(2))}
	all := append(append(small, below...), big.NewInt(5), big.NewInt(1234567890123456789))
	for _, line := range strings.Fields(string(text)) {
		k, _ := new(big.Int).SetString(line, 10)
		all = append(all, k)
	}
	return all
}

func decimals(values []*big.Int) []string {
	var all []string
	for _, value := range values {
		all = append(all, value.String())
	}
	return all
}

// encoded: encode gives RawBytes and Bytes of k·G; the second is nil where the curve has no compressed form.
func encoded(curve, group string, order *big.Int, encode func(k *big.Int) ([]byte, []byte)) set {
	ks := scalars(order)
	result := set{Curve: curve, Group: group, Order: order.String(), K: decimals(ks)}
	for _, k := range ks {
		raw, compressed := encode(k)
		result.Encodings.Raw = append(result.Encodings.Raw, hex.EncodeToString(raw))
		if compressed != nil {
			result.Encodings.Compressed = append(result.Encodings.Compressed, hex.EncodeToString(compressed))
		}
	}
	return result
}

type decimal interface{ String() string }

// canonical: an element near p is written as a negative number by gnark-crypto's own String.
func canonical(value decimal, p *big.Int) string {
	number, _ := new(big.Int).SetString(value.String(), 10)
	return number.Mod(number, p).String()
}

func twisted(curve string, p, order *big.Int, a, d, cofactor decimal, multiple func(k *big.Int) (decimal, decimal)) edwards {
	ks := scalars(order)
	result := edwards{Curve: curve, P: p.String(), A: canonical(a, p), D: canonical(d, p), Order: order.String(), Cofactor: cofactor.String(), K: decimals(ks)}
	for _, k := range ks {
		x, y := multiple(k)
		result.Points = append(result.Points, [2]string{canonical(x, p), canonical(y, p)})
	}
	return result
}

func main() {
	_, _, bn254G1, bn254G2 := bn254.Generators()
	_, _, bls381G1, bls381G2 := bls12381.Generators()
	_, _, bls377G1, bls377G2 := bls12377.Generators()
	_, grumpkinG1 := grumpkin.Generators()
	_, k1G1 := secp256k1.Generators()
	_, r1G1 := secp256r1.Generators()
	sets := []set{
		encoded("bn254", "g1", fr254.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point bn254.G1Affine
			point.ScalarMultiplication(&bn254G1, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		encoded("bn254", "g2", fr254.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point bn254.G2Affine
			point.ScalarMultiplication(&bn254G2, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		encoded("bls12-381", "g1", fr381.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point bls12381.G1Affine
			point.ScalarMultiplication(&bls381G1, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		encoded("bls12-381", "g2", fr381.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point bls12381.G2Affine
			point.ScalarMultiplication(&bls381G2, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		encoded("bls12-377", "g1", fr377.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point bls12377.G1Affine
			point.ScalarMultiplication(&bls377G1, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		encoded("bls12-377", "g2", fr377.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point bls12377.G2Affine
			point.ScalarMultiplication(&bls377G2, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		encoded("grumpkin", "g1", frGrumpkin.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point grumpkin.G1Affine
			point.ScalarMultiplication(&grumpkinG1, k)
			raw, compressed := point.RawBytes(), point.Bytes()
			return raw[:], compressed[:]
		}),
		// Their Bytes is RawBytes.
		encoded("secp256k1", "g1", frK1.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point secp256k1.G1Affine
			point.ScalarMultiplication(&k1G1, k)
			raw := point.RawBytes()
			return raw[:], nil
		}),
		encoded("p256", "g1", frR1.Modulus(), func(k *big.Int) ([]byte, []byte) {
			var point secp256r1.G1Affine
			point.ScalarMultiplication(&r1G1, k)
			raw := point.RawBytes()
			return raw[:], nil
		}),
	}

	first, second, third := onBn254.GetEdwardsCurve(), jubjub.GetEdwardsCurve(), bandersnatch.GetEdwardsCurve()
	curves := []edwards{
		twisted("ed-on-bn254", fr254.Modulus(), &first.Order, &first.A, &first.D, &first.Cofactor, func(k *big.Int) (decimal, decimal) {
			var point onBn254.PointAffine
			point.ScalarMultiplication(&first.Base, k)
			return &point.X, &point.Y
		}),
		twisted("jubjub", fr381.Modulus(), &second.Order, &second.A, &second.D, &second.Cofactor, func(k *big.Int) (decimal, decimal) {
			var point jubjub.PointAffine
			point.ScalarMultiplication(&second.Base, k)
			return &point.X, &point.Y
		}),
		twisted("bandersnatch", fr381.Modulus(), &third.Order, &third.A, &third.D, &third.Cofactor, func(k *big.Int) (decimal, decimal) {
			var point bandersnatch.PointAffine
			point.ScalarMultiplication(&third.Base, k)
			return &point.X, &point.Y
		}),
	}

	fields := []field{
		roots("bn254", fr254.Modulus(), 28, func(m uint64) (decimal, error) {
			root, err := fft254.Generator(m)
			return &root, err
		}),
		roots("bls12-381", fr381.Modulus(), 32, func(m uint64) (decimal, error) {
			root, err := fft381.Generator(m)
			return &root, err
		}),
		roots("bls12-377", fr377.Modulus(), 47, func(m uint64) (decimal, error) {
			root, err := fft377.Generator(m)
			return &root, err
		}),
	}

	file, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	out := json.NewEncoder(file)
	out.SetIndent("", "  ")
	if err := out.Encode(vectors{"gnark-crypto 0.22.0", sets, curves, fields}); err != nil {
		log.Fatal(err)
	}
}
