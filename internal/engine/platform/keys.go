package platform

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
)

func keyNatives() map[string]Func {
	return map[string]Func{
		"subtle.generate": generateKey, "subtle.import": importKey, "subtle.export": exportKey,
		"subtle.sign": signData, "subtle.verify": verifyData, "subtle.oaep": oaepCipher, "subtle.ecdh": deriveECDH,
	}
}

// What RSA keys may be like. Making a larger one takes seconds that nothing can interrupt.
const (
	minRSABits      = 1024
	maxNewRSABits   = 3072
	maxRSABits      = 8192
	usualExponent   = 65537
	maxExponentBits = 31
)

func curveOf(name string) (elliptic.Curve, error) {
	switch name {
	case "P-256":
		return elliptic.P256(), nil
	case "P-384":
		return elliptic.P384(), nil
	case "P-521":
		return elliptic.P521(), nil
	}
	return nil, Throw("NotSupportedError", "namedCurve is P-256, P-384 or P-521, not %s", quoted(name))
}

// generateKey(kind, curve or bits, exponent) → [PKCS #8, SPKI, curve or bits, exponent].
func generateKey(args Args) (any, error) {
	key, err := newKey(args)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, operation(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, operation(err)
	}
	return append([]any{private, public}, describeKey(key.Public())...), nil
}

func newKey(args Args) (crypto.Signer, error) {
	switch args.Text(0) {
	case "EC":
		curve, err := curveOf(args.Text(1))
		if err != nil {
			return nil, err
		}
		return ecdsa.GenerateKey(curve, rand.Reader)
	case "Ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	bits := int(args.Number(1))
	if bits < minRSABits || bits > maxNewRSABits {
		return nil, Throw("OperationError", "an RSA key that is made here has %d to %d bits, not %d; import a larger one", minRSABits, maxNewRSABits, bits)
	}
	if e := new(big.Int).SetBytes(args.Bytes(2)); e.Cmp(big.NewInt(usualExponent)) != 0 {
		return nil, Throw("OperationError", "publicExponent must be new Uint8Array([1, 0, 1])")
	}
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, operation(err)
	}
	return key, nil
}

// describeKey is what scripts show of a public key: [curve] or [bits, exponent].
func describeKey(key crypto.PublicKey) []any {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return []any{key.Curve.Params().Name, nil}
	case *rsa.PublicKey:
		return []any{key.N.BitLen(), big.NewInt(int64(key.E)).Bytes()}
	}
	return []any{nil, nil}
}

// importKey(format, kind, curve, data) → [private or public, DER, curve or bits, exponent].
func importKey(args Args) (any, error) {
	format, kind, curve := args.Text(0), args.Text(1), args.Text(2)
	key, err := readKey(format, kind, curve, args.Bytes(3))
	if err != nil {
		return nil, err
	}
	if err := checkKey(key, kind, curve); err != nil {
		return nil, err
	}
	if private, ok := key.(crypto.Signer); ok {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return nil, badKey(err)
		}
		return append([]any{"private", der}, describeKey(private.Public())...), nil
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, badKey(err)
	}
	return append([]any{"public", der}, describeKey(key)...), nil
}

func badKey(err error) error {
	return Throw("DataError", "the key cannot be read: %v", err)
}

func readKey(format, kind, curve string, data []byte) (any, error) {
	var key any
	var err error
	switch format {
	case "pkcs8":
		key, err = x509.ParsePKCS8PrivateKey(data)
	case "spki":
		key, err = x509.ParsePKIXPublicKey(data)
	case "jwk":
		key, err = readJWK(data, kind, curve)
	case "raw":
		key, err = readRaw(kind, curve, data)
	default:
		return nil, Throw("NotSupportedError", "the format of a key is raw, jwk, pkcs8 or spki, not %s", quoted(format))
	}
	if _, mine := err.(*Error); err != nil && !mine {
		err = badKey(err)
	}
	return key, err
}

func readRaw(kind, curve string, data []byte) (any, error) {
	switch {
	case kind == "Ed25519" && len(data) == ed25519.PublicKeySize:
		return ed25519.PublicKey(append([]byte(nil), data...)), nil
	case kind == "EC":
		c, err := curveOf(curve)
		if err != nil {
			return nil, err
		}
		return ecdsa.ParseUncompressedPublicKey(c, data)
	}
	return nil, Throw("NotSupportedError", "a key of this kind is not imported as raw")
}

// checkKey says whether the key is what the algorithm needs.
func checkKey(key any, kind, curve string) error {
	if s, ok := key.(crypto.Signer); ok {
		key = s.Public()
	}
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if _, err := curveOf(curve); kind == "EC" && err != nil {
			return err
		}
		if kind == "EC" && key.Curve.Params().Name == curve {
			return nil
		}
		return Throw("DataError", "the key is one on the curve %s", key.Curve.Params().Name)
	case *rsa.PublicKey:
		if kind == "RSA" && key.N.BitLen() >= minRSABits && key.N.BitLen() <= maxRSABits {
			return nil
		}
		return Throw("DataError", "the key is an RSA key of %d bits", key.N.BitLen())
	case ed25519.PublicKey:
		if kind == "Ed25519" {
			return nil
		}
	}
	return Throw("DataError", "the key is of another kind than the algorithm")
}

// exportKey(format, kind, DER).
func exportKey(args Args) (any, error) {
	format, der := args.Text(0), args.Bytes(2)
	switch format {
	case "pkcs8", "spki":
		return append([]byte(nil), der...), nil
	}
	key, err := parseDER(der)
	if err != nil {
		return nil, err
	}
	if format == "jwk" {
		return writeJWK(key)
	}
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return key.Bytes()
	case ed25519.PublicKey:
		return []byte(key), nil
	}
	return nil, Throw("NotSupportedError", "a key of this kind cannot be exported as %s", quoted(format))
}

// parseDER reads what importKey and generateKey made.
func parseDER(der []byte) (any, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, badKey(err)
	}
	return key, nil
}
