package platform

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
)

// jwk is a JSON Web Key (RFC 7518, RFC 8037).
type jwk struct {
	Kty string `json:"kty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	D   string `json:"d,omitempty"`
	P   string `json:"p,omitempty"`
	Q   string `json:"q,omitempty"`
	DP  string `json:"dp,omitempty"`
	DQ  string `json:"dq,omitempty"`
	QI  string `json:"qi,omitempty"`
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func unb64(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) }

func readJWK(data []byte, kind, curve string) (any, error) {
	var k jwk
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, err
	}
	switch want := map[string]string{"EC": "EC", "RSA": "RSA", "Ed25519": "OKP"}[kind]; {
	case k.Kty != want:
		return nil, Throw("DataError", "the key's kty is %s, and must be %s", quoted(k.Kty), quoted(want))
	case kind == "EC":
		return k.ec(curve)
	case kind == "RSA":
		return k.rsa()
	}
	return k.ed25519()
}

func (k *jwk) ec(curve string) (any, error) {
	c, err := curveOf(curve)
	if err != nil {
		return nil, err
	}
	if k.Crv != curve {
		return nil, Throw("DataError", "the key's crv is %s, and must be %s", quoted(k.Crv), quoted(curve))
	}
	point := []byte{4}
	for _, s := range []string{k.X, k.Y} {
		b, err := unb64(s)
		if err != nil {
			return nil, err
		}
		point = append(point, b...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(c, point)
	if err != nil || k.D == "" {
		return public, err
	}
	d, err := unb64(k.D)
	if err != nil {
		return nil, err
	}
	private, err := ecdsa.ParseRawPrivateKey(c, d)
	if err == nil && !private.PublicKey.Equal(public) {
		return nil, Throw("DataError", "the two halves of the key do not belong together")
	}
	return private, err
}

func (k *jwk) rsa() (any, error) {
	n, e, err := numbers(k.N, k.E)
	if err != nil {
		return nil, err
	}
	if e.BitLen() > maxExponentBits || n.BitLen() > maxRSABits {
		return nil, Throw("DataError", "the numbers of the key are too large")
	}
	public := rsa.PublicKey{N: n, E: int(e.Int64())}
	if k.D == "" {
		return &public, nil
	}
	if k.P == "" || k.Q == "" {
		return nil, Throw("DataError", "a private RSA key needs its primes p and q")
	}
	p, q, err := numbers(k.P, k.Q)
	if err != nil {
		return nil, err
	}
	d, _, err := numbers(k.D, "")
	if err != nil {
		return nil, err
	}
	private := &rsa.PrivateKey{PublicKey: public, D: d, Primes: []*big.Int{p, q}}
	if err := private.Validate(); err != nil {
		return nil, err
	}
	private.Precompute()
	return private, nil
}

func numbers(a, b string) (x, y *big.Int, err error) {
	first, err := unb64(a)
	if err != nil {
		return nil, nil, err
	}
	second, err := unb64(b)
	return new(big.Int).SetBytes(first), new(big.Int).SetBytes(second), err
}

func (k *jwk) ed25519() (any, error) {
	if k.Crv != "Ed25519" {
		return nil, Throw("DataError", "the key's crv must be Ed25519")
	}
	x, err := unb64(k.X)
	if err != nil || len(x) != ed25519.PublicKeySize {
		return nil, Throw("DataError", "the key's x is not 32 bytes in base64url")
	}
	if k.D == "" {
		return ed25519.PublicKey(x), nil
	}
	d, err := unb64(k.D)
	if err != nil || len(d) != ed25519.SeedSize {
		return nil, Throw("DataError", "the key's d is not 32 bytes in base64url")
	}
	return ed25519.NewKeyFromSeed(d), nil
}

// writeJWK is the key as JSON text in bytes.
func writeJWK(key any) (any, error) {
	var k jwk
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		k = ecJWK(key)
	case *ecdsa.PrivateKey:
		k = ecJWK(&key.PublicKey)
		d, err := key.Bytes()
		if err != nil {
			return nil, operation(err)
		}
		k.D = b64(d)
	case *rsa.PublicKey:
		k = rsaJWK(key)
	case *rsa.PrivateKey:
		k = rsaJWK(&key.PublicKey)
		k.D, k.P, k.Q = b64(key.D.Bytes()), b64(key.Primes[0].Bytes()), b64(key.Primes[1].Bytes())
		k.DP, k.DQ, k.QI = b64(key.Precomputed.Dp.Bytes()), b64(key.Precomputed.Dq.Bytes()), b64(key.Precomputed.Qinv.Bytes())
	case ed25519.PublicKey:
		k = jwk{Kty: "OKP", Crv: "Ed25519", X: b64(key)}
	case ed25519.PrivateKey:
		k = jwk{Kty: "OKP", Crv: "Ed25519", X: b64(key[ed25519.SeedSize:]), D: b64(key.Seed())}
	}
	return json.Marshal(k)
}

func ecJWK(key *ecdsa.PublicKey) jwk {
	point, err := key.Bytes()
	if err != nil {
		return jwk{} // never: the key was parsed
	}
	half := (len(point) - 1) / 2
	return jwk{Kty: "EC", Crv: key.Curve.Params().Name, X: b64(point[1 : 1+half]), Y: b64(point[1+half:])}
}

func rsaJWK(key *rsa.PublicKey) jwk {
	return jwk{Kty: "RSA", N: b64(key.N.Bytes()), E: b64(big.NewInt(int64(key.E)).Bytes())}
}
