package sandbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// connected makes a Conn and what is at the other end of its pipes.
func connected(t *testing.T) (here, there *Conn) {
	t.Helper()
	here, in, out, err := pipes()
	if err != nil {
		t.Fatal(err)
	}
	there, err = newConn(in, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() }) // the test may have closed them
	return here, there
}

// Far more than a pipe holds goes both ways at once, in pieces of all sizes, and arrives as it was.
func TestConnCarriesMuchBothWaysAtOnce(t *testing.T) {
	here, there := connected(t)
	const size = 32 << 20
	text := func(seed byte) []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(i>>8) ^ byte(i)*seed
		}
		return b
	}
	results := make(chan error, 4)
	send := func(to *Conn, b []byte) {
		for n := 1; len(b) > 0 && n > 0; n = n*3 + 1 {
			piece := b[:min(n, len(b))]
			if wrote, err := to.Write(piece); err != nil || wrote != len(piece) {
				results <- errors.Join(err, io.ErrShortWrite)
				return
			}
			b = b[len(piece):]
		}
		results <- nil
	}
	receive := func(from *Conn, want []byte) {
		sum := sha256.New()
		if _, err := io.CopyBuffer(sum, io.LimitReader(from, size), make([]byte, 5000)); err != nil {
			results <- err
			return
		}
		if all := sha256.Sum256(want); !bytes.Equal(all[:], sum.Sum(nil)) {
			results <- errors.New("other bytes came than were sent")
			return
		}
		results <- nil
	}
	down, up := text(3), text(7)
	go send(here, down)
	go send(there, up)
	go receive(here, up)
	go receive(there, down)
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func TestConnEndsWithItsOtherEnd(t *testing.T) {
	here, there := connected(t)
	if n, err := there.Write([]byte("last words")); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	if err := there.out.Close(); err != nil { // only this one: it still listens
		t.Fatal(err)
	}
	if got, err := io.ReadAll(here); string(got) != "last words" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if n, err := here.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
	if n, err := here.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("the other pipe: %d, %v", n, err)
	}
	there.in.Close()
	if n, err := here.Write([]byte("x")); n != 0 || !errors.Is(err, unix.EPIPE) {
		t.Errorf("to nobody: %d, %v", n, err)
	}
}

// A write that waits for room ends when the reader goes, and says how much left.
func TestConnWriteThatWaitsEndsWithItsReader(t *testing.T) {
	here, there := connected(t)
	type written struct {
		n   int
		err error
	}
	done := make(chan written)
	go func() {
		n, err := here.Write(make([]byte, 1<<20))
		done <- written{n, err}
	}()
	if _, err := io.ReadFull(there, make([]byte, 100<<10)); err != nil {
		t.Fatal(err)
	}
	there.in.Close()
	if w := <-done; !errors.Is(w.err, unix.EPIPE) || w.n < 100<<10 || w.n >= 1<<20 {
		t.Errorf("%d, %v", w.n, w.err)
	}
}

func TestConnDeadline(t *testing.T) {
	here, there := connected(t)
	if err := here.SetDeadline(time.Now().Add(30 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := here.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading: %d, %v", n, err)
	}
	n, err := here.Write(make([]byte, 1<<20)) // more than the pipe holds, and nobody reads
	if !errors.Is(err, os.ErrDeadlineExceeded) || n >= 1<<20 {
		t.Errorf("writing: %d, %v", n, err)
	}
	if err := here.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := here.Read(make([]byte, 9)); n != 1 || err != nil {
		t.Errorf("without a deadline: %d, %v", n, err)
	}
}

// Close ends whoever waits, in both directions.
func TestConnCloseWakesWhoWaits(t *testing.T) {
	here, _ := connected(t)
	done := make(chan error, 2)
	go func() { _, err := here.Read(make([]byte, 1)); done <- err }()
	go func() { _, err := here.Write(make([]byte, 1<<20)); done <- err }()
	time.Sleep(20 * time.Millisecond) // for most runs to catch them waiting; either way they end
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; err == nil {
			t.Error("it ended without an error")
		}
	}
	if _, err := here.Read(make([]byte, 1)); err == nil {
		t.Error("a closed one was read")
	}
	if _, err := here.Write([]byte("x")); err == nil {
		t.Error("a closed one was written")
	}
}

func TestConnOfNothingDoesNotWait(t *testing.T) {
	here, there := connected(t)
	if n, err := here.Read(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	if n, err := here.Write(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	if _, err := there.Write([]byte("x")); err != nil { // so that Write(nil) sent nothing
		t.Fatal(err)
	}
	if n, err := here.Read(make([]byte, 9)); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// Every call would allocate otherwise: it is on the path of each frame.
func TestConnAllocatesNothing(t *testing.T) {
	here, there := connected(t)
	b := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := here.Write(b); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadFull(there, b); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
