package platform

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
)

func hashID(name string) crypto.Hash {
	switch name {
	case "SHA-1":
		return crypto.SHA1
	case "SHA-384":
		return crypto.SHA384
	case "SHA-512":
		return crypto.SHA512
	}
	return crypto.SHA256
}

func sum(hash string, data []byte) []byte {
	h := newHash(hash)()
	h.Write(data)
	return h.Sum(nil)
}

// signData(algorithm, hash, PKCS #8, data, salt length) → the signature.
func signData(args Args) (any, error) {
	name, hash, data := args.Text(0), args.Text(1), args.Bytes(3)
	key, err := x509.ParsePKCS8PrivateKey(args.Bytes(2))
	if err != nil {
		return nil, badKey(err)
	}
	var out []byte
	switch key := key.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(key, data), nil
	case *ecdsa.PrivateKey:
		out, err = signECDSA(key, sum(hash, data))
	case *rsa.PrivateKey:
		if name == "RSA-PSS" {
			out, err = signPSS(key, hash, data, int(args.Number(4)))
		} else {
			out, err = rsa.SignPKCS1v15(nil, key, hashID(hash), sum(hash, data))
		}
	}
	if err != nil {
		return nil, operation(err)
	}
	return out, nil
}

func signPSS(key *rsa.PrivateKey, hash string, data []byte, salt int) ([]byte, error) {
	if err := checkSalt(&key.PublicKey, hash, salt); err != nil {
		return nil, err
	}
	// An empty salt is asked for by its length too: Go reads 0 as "as long as possible".
	if salt == 0 {
		return nil, Throw("NotSupportedError", "RSA-PSS needs a salt of at least one byte here")
	}
	return rsa.SignPSS(rand.Reader, key, hashID(hash), sum(hash, data), &rsa.PSSOptions{SaltLength: salt})
}

func checkSalt(key *rsa.PublicKey, hash string, salt int) error {
	if most := key.Size() - newHash(hash)().Size() - 2; salt > most {
		return Throw("OperationError", "the salt of this key has at most %d bytes", most)
	}
	return nil
}

// signECDSA gives r and s side by side, as Web Crypto does.
func signECDSA(key *ecdsa.PrivateKey, digest []byte) ([]byte, error) {
	r, s, err := ecdsa.Sign(rand.Reader, key, digest)
	if err != nil {
		return nil, err
	}
	size := (key.Curve.Params().BitSize + 7) / 8
	out := make([]byte, 2*size)
	r.FillBytes(out[:size])
	s.FillBytes(out[size:])
	return out, nil
}

// verifyData(algorithm, hash, SPKI, signature, data, salt length).
func verifyData(args Args) (any, error) {
	name, hash, signature, data := args.Text(0), args.Text(1), args.Bytes(3), args.Bytes(4)
	key, err := x509.ParsePKIXPublicKey(args.Bytes(2))
	if err != nil {
		return nil, badKey(err)
	}
	switch key := key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, data, signature), nil
	case *ecdsa.PublicKey:
		return verifyECDSA(key, sum(hash, data), signature), nil
	case *rsa.PublicKey:
		if name == "RSA-PSS" {
			salt := int(args.Number(5))
			if salt == 0 {
				return nil, Throw("NotSupportedError", "RSA-PSS needs a salt of at least one byte here")
			}
			return rsa.VerifyPSS(key, hashID(hash), sum(hash, data), signature, &rsa.PSSOptions{SaltLength: salt}) == nil, nil
		}
		return rsa.VerifyPKCS1v15(key, hashID(hash), sum(hash, data), signature) == nil, nil
	}
	return false, nil
}

func verifyECDSA(key *ecdsa.PublicKey, digest, signature []byte) bool {
	size := (key.Curve.Params().BitSize + 7) / 8
	if len(signature) != 2*size {
		return false
	}
	return ecdsa.Verify(key, digest, new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:]))
}

// oaepCipher(encrypt, hash, DER, data, label).
func oaepCipher(args Args) (any, error) {
	key, err := parseDER(args.Bytes(2))
	if err != nil {
		return nil, err
	}
	h, data, label := newHash(args.Text(1))(), args.Bytes(3), args.Bytes(4)
	var out []byte
	switch key := key.(type) {
	case *rsa.PublicKey:
		out, err = rsa.EncryptOAEP(h, rand.Reader, key, data, label)
	case *rsa.PrivateKey:
		out, err = rsa.DecryptOAEP(h, nil, key, data, label)
	}
	if err != nil {
		return nil, operation(err)
	}
	return nonNil(out), nil
}

// deriveECDH(PKCS #8, SPKI) → the shared secret.
func deriveECDH(args Args) (any, error) {
	private, err1 := x509.ParsePKCS8PrivateKey(args.Bytes(0))
	public, err2 := x509.ParsePKIXPublicKey(args.Bytes(1))
	a, ok1 := private.(*ecdsa.PrivateKey)
	b, ok2 := public.(*ecdsa.PublicKey)
	if err1 != nil || err2 != nil || !ok1 || !ok2 {
		return nil, Throw("DataError", "the keys are not keys on a curve")
	}
	x, err1 := a.ECDH()
	y, err2 := b.ECDH()
	if err1 != nil || err2 != nil {
		return nil, Throw("DataError", "the keys cannot be used for ECDH")
	}
	shared, err := x.ECDH(y)
	if err != nil {
		return nil, operation(err)
	}
	return shared, nil
}
