package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"toolroom/tool"
)

// Encode is the canonical form of a definition, the one that is kept and
// hashed: its fields in the order of the type, no needless white space.
func Encode(d tool.Definition) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encode definition: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Hash is the SHA-256 of an encoded definition, in hex.
func Hash(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// Decode reads what Encode wrote. It fails if the bytes are not those that were
// hashed.
func Decode(encoded []byte, hash string) (tool.Definition, error) {
	var d tool.Definition
	if got := Hash(encoded); got != hash {
		return d, fmt.Errorf("its hash is %.12s, not %.12s", got, hash)
	}
	if err := json.Unmarshal(encoded, &d); err != nil {
		return d, fmt.Errorf("it is not a definition: %w", err)
	}
	return d, nil
}
