package platform

import (
	"crypto/rand"

	"github.com/google/uuid"
)

func randomNatives() map[string]Func {
	return map[string]Func{"random.fill": fillRandom, "random.uuid": randomUUID}
}

// fillRandom(bytes) fills the isolate's own memory.
func fillRandom(args Args) (any, error) {
	rand.Read(args.Bytes(0)) // never fails, as crypto/rand says
	return nil, nil
}

func randomUUID(Args) (any, error) { return uuid.NewString(), nil }
