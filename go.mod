module toolroom

go 1.26.8

require (
	code.dny.dev/ssrf v0.3.0
	github.com/go-json-experiment/json v1.27.2
	github.com/nlnwa/whatwg-url v0.6.2
	go.uber.org/goleak v1.3.0
	golang.org/x/net v0.62.0
)

require (
	filippo.io/age v1.3.2 // indirect
	filippo.io/hpke v0.4.0 // indirect
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
