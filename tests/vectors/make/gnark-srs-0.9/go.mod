module vectors-gnark-srs-0.9

go 1.26.8

require github.com/consensys/gnark-crypto v0.9.1

require (
	github.com/consensys/bavard v0.1.13 // indirect
	github.com/mmcloughlin/addchain v0.4.0 // indirect
	golang.org/x/sys v0.2.0 // indirect
	rsc.io/tmplfunc v0.0.3 // indirect
)
