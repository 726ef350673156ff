// Times proofs of Groth16 on BN254 by gnark. Its keys have another form than those of snarkjs, so it
// makes a key for a circuit of the same size and kind of witness. Usage: gnark-groth16 dense|bits LOGN
// REPETITIONS; GOMAXPROCS has the number of threads. Prints milliseconds, one line each, after an
// untimed proof. Each proof is verified.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"
	"github.com/rs/zerolog"
)

// Constraints that a domain has beyond those of the loop.
const others = 8

// A chain of products: its values are as long as the field's.
type dense struct {
	X      frontend.Variable
	Public frontend.Variable `gnark:",public"`
	length int
}

func (circuit *dense) Define(api frontend.API) error {
	x, y := circuit.X, api.Add(circuit.X, 1)
	for i := 0; i < circuit.length; i++ {
		x, y = y, api.Mul(x, y)
	}
	api.AssertIsDifferent(y, circuit.Public)
	return nil
}

// Bits, of which one in eight is set.
type bits struct {
	Bits   []frontend.Variable
	Public frontend.Variable `gnark:",public"`
}

func (circuit *bits) Define(api frontend.API) error {
	for _, bit := range circuit.Bits {
		api.AssertIsBoolean(bit)
	}
	api.AssertIsBoolean(circuit.Public)
	return nil
}

// Returns a circuit of n constraints, and values for it.
func circuitOf(kind string, n int) (frontend.Circuit, frontend.Circuit) {
	switch kind {
	case "dense":
		return &dense{length: n}, &dense{length: n, X: 3, Public: 5}
	case "bits":
		values := &bits{Bits: make([]frontend.Variable, n), Public: 1}
		for i := range values.Bits {
			values.Bits[i] = 0
			if i%8 == 0 {
				values.Bits[i] = 1
			}
		}
		return &bits{Bits: make([]frontend.Variable, n)}, values
	}
	panic("no kind " + kind)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	logger.Set(zerolog.Nop())
	kind, logn, repetitions := os.Args[1], number(os.Args[2]), number(os.Args[3])
	circuit, values := circuitOf(kind, 1<<logn-others)
	constraints, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, circuit)
	must(err)
	if found := constraints.GetNbConstraints(); found > 1<<logn || 2*found <= 1<<logn {
		panic(fmt.Sprintf("%d constraints are no domain of 2^%d", found, logn))
	}
	key, verifier, err := groth16.Setup(constraints)
	must(err)
	witness, err := frontend.NewWitness(values, ecc.BN254.ScalarField())
	must(err)
	public, err := witness.Public()
	must(err)
	for repetition := 0; repetition <= repetitions; repetition++ {
		begun := time.Now()
		proof, err := groth16.Prove(constraints, key, witness)
		ms := float64(time.Since(begun).Nanoseconds()) / 1e6
		must(err)
		must(groth16.Verify(proof, verifier, public))
		if repetition > 0 {
			fmt.Println(ms)
		}
	}
}
