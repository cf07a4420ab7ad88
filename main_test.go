package toolroom_test

import (
	"testing"

	"go.uber.org/goleak"

	"toolroom"
)

func TestMain(m *testing.M) {
	toolroom.WorkerMain()
	role()
	goleak.VerifyTestMain(m)
}
