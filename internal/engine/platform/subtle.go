package platform

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"maps"
)

func subtleNatives() map[string]Func {
	out := map[string]Func{
		"subtle.digest": digest, "subtle.hmac": hmacSign, "subtle.hmacVerify": hmacVerify, "subtle.hkdf": deriveHKDF, "subtle.pbkdf2": pbkdf2Piece,
		"subtle.aes": aesCipher, "subtle.toBase64": toBase64URL, "subtle.fromBase64": fromBase64URL,
	}
	maps.Copy(out, keyNatives())
	return out
}

// newHash is the constructor of a hash by its name; the scripts let no other name through.
func newHash(name string) func() hash.Hash {
	switch name {
	case "SHA-1":
		return sha1.New
	case "SHA-384":
		return sha512.New384
	case "SHA-512":
		return sha512.New
	}
	return sha256.New
}

// digest(hash, data).
func digest(args Args) (any, error) {
	h := newHash(args.Text(0))()
	h.Write(args.Bytes(1))
	return h.Sum(nil), nil
}

// hmacSign(hash, key, data).
func hmacSign(args Args) (any, error) {
	h := hmac.New(newHash(args.Text(0)), args.Bytes(1))
	h.Write(args.Bytes(2))
	return h.Sum(nil), nil
}

// hmacVerify(hash, key, signature, data).
func hmacVerify(args Args) (any, error) {
	h := hmac.New(newHash(args.Text(0)), args.Bytes(1))
	h.Write(args.Bytes(3))
	return hmac.Equal(h.Sum(nil), args.Bytes(2)), nil
}

// deriveHKDF(hash, key, salt, info, bytes).
func deriveHKDF(args Args) (any, error) {
	out, err := hkdf.Key(newHash(args.Text(0)), args.Bytes(1), args.Bytes(2), string(args.Bytes(3)), int(args.Number(4)))
	if err != nil {
		return nil, operation(err)
	}
	return out, nil
}

// pbkdf2Piece(hash, password, salt, block, iterations, state) → the next state:
// some iterations of one block of PBKDF2 (RFC 8018). A state is the last U, then
// the XOR of all U so far; it is empty at the beginning. The standard library's
// PBKDF2 cannot be interrupted, and this must be.
func pbkdf2Piece(args Args) (any, error) {
	h := hmac.New(newHash(args.Text(0)), args.Bytes(1))
	size, left := h.Size(), int(args.Number(4))
	state := make([]byte, 2*size)
	u, t := state[:size:size], state[size:]
	if copy(state, args.Bytes(5)) == 0 {
		h.Write(args.Bytes(2))
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(args.Number(3))))
		copy(t, h.Sum(u[:0]))
		left--
	}
	for range left {
		h.Reset()
		h.Write(u)
		h.Sum(u[:0])
		for n, b := range u {
			t[n] ^= b
		}
	}
	return state, nil
}

func operation(err error) error { return Throw("OperationError", "%v", err) }

// toBase64URL(bytes) → text without padding.
func toBase64URL(args Args) (any, error) {
	return base64.RawURLEncoding.EncodeToString(args.Bytes(0)), nil
}

// fromBase64URL(text) → bytes.
func fromBase64URL(args Args) (any, error) {
	b, err := base64.RawURLEncoding.DecodeString(args.Text(0))
	if err != nil {
		return nil, Throw("DataError", "the key is not base64url without padding")
	}
	return b, nil
}
