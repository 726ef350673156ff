// Times sums of BN254 G1 by gnark-crypto, on one thread. Usage: gnark LOGN REPETITIONS. Prints
// milliseconds, one line each, after an untimed run.
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
)

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	runtime.GOMAXPROCS(1)
	n := 1 << number(os.Args[1])
	scalars := make([]fr.Element, n)
	logs := make([]fr.Element, n)
	for i := range scalars {
		scalars[i].SetRandom()
		logs[i].SetRandom()
	}
	_, _, generator, _ := bn254.Generators()
	points := bn254.BatchScalarMultiplicationG1(&generator, logs)
	for repetition := 0; repetition <= number(os.Args[2]); repetition++ {
		var sum bn254.G1Affine
		begun := time.Now()
		if _, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
			panic(err)
		}
		ms := float64(time.Since(begun).Nanoseconds()) / 1e6
		if !sum.IsOnCurve() {
			panic("not on the curve")
		}
		if repetition > 0 {
			fmt.Println(ms)
		}
	}
}
