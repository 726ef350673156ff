// Times sums of BN254 G1, or transforms of its scalar field, by gnark-crypto, on one thread. Usage:
// gnark msm|ntt|ntt-reversed LOGN REPETITIONS. Prints milliseconds, one line each, after an untimed
// run.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
)

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func random(n int) []fr.Element {
	all := make([]fr.Element, n)
	for i := range all {
		all[i].SetRandom()
	}
	return all
}

// Prints the times of work, which returns its beginning, its end, and whether its result is right.
func repeat(repetitions int, work func() (time.Time, time.Time, bool)) {
	for repetition := 0; repetition <= repetitions; repetition++ {
		begun, ended, isRight := work()
		if !isRight {
			panic("a wrong result")
		}
		if repetition > 0 {
			fmt.Println(float64(ended.Sub(begun).Nanoseconds()) / 1e6)
		}
	}
}

func sums(n, repetitions int) {
	scalars := random(n)
	_, _, generator, _ := bn254.Generators()
	points := bn254.BatchScalarMultiplicationG1(&generator, random(n))
	repeat(repetitions, func() (time.Time, time.Time, bool) {
		var sum bn254.G1Affine
		begun := time.Now()
		_, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: 1})
		return begun, time.Now(), err == nil && sum.IsOnCurve()
	})
}

// From natural order to reversed order, and to natural order if isNatural.
func transforms(n, repetitions int, isNatural bool) {
	coefficients := random(n)
	domain := fft.NewDomain(uint64(n))
	var sum fr.Element
	for i := range coefficients {
		sum.Add(&sum, &coefficients[i])
	}
	values := make([]fr.Element, n)
	repeat(repetitions, func() (time.Time, time.Time, bool) {
		copy(values, coefficients)
		begun := time.Now()
		domain.FFT(values, fft.DIF, fft.WithNbTasks(1))
		if isNatural {
			fft.BitReverse(values)
		}
		return begun, time.Now(), values[0].Equal(&sum)
	})
}

func main() {
	runtime.GOMAXPROCS(1)
	n, repetitions := 1<<number(os.Args[2]), number(os.Args[3])
	switch os.Args[1] {
	case "msm":
		sums(n, repetitions)
	case "ntt":
		transforms(n, repetitions, true)
	case "ntt-reversed":
		transforms(n, repetitions, false)
	default:
		panic("no such operation")
	}
}
