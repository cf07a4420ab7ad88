package platform

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"math/big"
)

// aesCipher(mode, encrypt, key, data, iv, bits, additional data). bits is the length
// of GCM's tag or of CTR's counter.
func aesCipher(args Args) (any, error) {
	block, err := aes.NewCipher(args.Bytes(2))
	if err != nil {
		return nil, operation(err)
	}
	data, iv, bits := args.Bytes(3), args.Bytes(4), int(args.Number(5))
	switch mode := args.Text(0); {
	case mode == "AES-GCM":
		return gcm(block, args.Bool(1), data, iv, bits, args.Bytes(6))
	case len(iv) != aes.BlockSize:
		return nil, Throw("OperationError", "%s takes an iv or counter of 16 bytes, not %d", mode, len(iv))
	case mode == "AES-CTR":
		return ctr(block, data, iv, bits)
	case args.Bool(1):
		return encryptCBC(block, data, iv), nil
	}
	return decryptCBC(block, data, iv)
}

func gcm(block cipher.Block, encrypt bool, data, iv []byte, bits int, additional []byte) (any, error) {
	a, err := newGCM(block, len(iv), bits)
	if err != nil {
		return nil, err
	}
	if encrypt {
		return a.Seal(nil, iv, data, additional), nil
	}
	out, err := a.Open(nil, iv, data, additional)
	if err != nil {
		return nil, Throw("OperationError", "the data cannot be decrypted: the key, the iv or the additional data is another, or the data was changed")
	}
	return nonNil(out), nil
}

func newGCM(block cipher.Block, iv, bits int) (cipher.AEAD, error) {
	const usualIV = 12
	switch {
	case bits != 96 && bits != 104 && bits != 112 && bits != 120 && bits != 128:
		return nil, Throw("OperationError", "tagLength is 96, 104, 112, 120 or 128 bits here, not %d", bits)
	case iv == 0:
		return nil, Throw("OperationError", "AES-GCM needs an iv; 12 random bytes are usual")
	case iv == usualIV:
		return cipher.NewGCMWithTagSize(block, bits/8)
	case bits != 128:
		return nil, Throw("NotSupportedError", "a short tag goes with an iv of 12 bytes only")
	}
	return cipher.NewGCMWithNonceSize(block, iv)
}

// nonNil is b, as an empty buffer when there is none.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func encryptCBC(block cipher.Block, data, iv []byte) []byte {
	pad := aes.BlockSize - len(data)%aes.BlockSize
	out := append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return out
}

func decryptCBC(block cipher.Block, data, iv []byte) (any, error) {
	bad := Throw("OperationError", "the data cannot be decrypted: the key or the iv is another, or the data was changed")
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, bad
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.HasSuffix(out, bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, bad
	}
	return out[:len(out)-pad], nil
}

// ctr counts in the last bits of the counter only, which then starts again at zero.
func ctr(block cipher.Block, data, counter []byte, bits int) (any, error) {
	if bits < 1 || bits > 128 {
		return nil, Throw("OperationError", "the length of an AES-CTR counter is 1 to 128 bits")
	}
	period := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	whole := new(big.Int).SetBytes(counter)
	low := new(big.Int).Mod(whole, period)
	blocks := big.NewInt(int64((len(data) + aes.BlockSize - 1) / aes.BlockSize))
	if blocks.Cmp(period) > 0 {
		return nil, Throw("OperationError", "the data is longer than a counter of %d bits allows", bits)
	}
	out := make([]byte, len(data))
	room := new(big.Int).Sub(period, low) // blocks before it starts again
	first := len(data)
	if room.Cmp(blocks) < 0 {
		first = int(room.Int64()) * aes.BlockSize
	}
	cipher.NewCTR(block, counter).XORKeyStream(out[:first], data[:first])
	if first < len(data) {
		again := whole.Sub(whole, low).FillBytes(make([]byte, aes.BlockSize))
		cipher.NewCTR(block, again).XORKeyStream(out[first:], data[first:])
	}
	return out, nil
}
