package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolroom/internal/wire"
)

// puppet is a worker that does what the arguments of a call say, a string:
//
//	echo X        answers X
//	after MS      answers when MS milliseconds have passed
//	pid           answers its process id
//	ask N         makes N requests, answers how many replies came
//	ask-and-wait  makes one request and then nothing
//	ask-and-end   makes one request, answers soon and waits for no reply
//	gorge N       makes N requests of a MiB, answers when all replies came
//	abort N       makes N requests and takes each back soon, answers N
//	crossed N     makes a small request and one of N MiB, and reads nothing until both are sent; answers how many bytes came back
//	hang          never answers, and does not listen either
//	patient       answers "cancelled" when it is told to cancel
//	crash         ends the process
//	eat N         takes N MiB of memory and hangs
//	hold N        takes N MiB of memory, answers a second and a half later
//	flood N       writes N lines of log, answers; for ever when N is 0
//	trickle       answers 1, a byte every 100 ms
//	lie           sends a result for another call
//	close N       closes descriptor N and waits
//	go-deaf       answers, and reads nothing any more
type puppet struct {
	conn io.ReadWriter
	in   *wire.Reader

	mu      sync.Mutex
	out     *wire.Writer
	replies map[uint64]chan wire.Frame
	cancels map[uint64]chan struct{}
}

func newPuppet(conn io.ReadWriter) (*puppet, error) {
	p := &puppet{conn: conn, in: wire.NewReader(conn, wire.MaxMeta+wire.MaxData), out: wire.NewWriter(conn),
		replies: make(map[uint64]chan wire.Frame), cancels: make(map[uint64]chan struct{})}
	if f, err := p.in.Read(); err != nil || f.Kind != wire.Hello {
		return nil, fmt.Errorf("no hello: %v", err)
	}
	return p, nil
}

func (p *puppet) send(f wire.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Write(f) // the reader sees the end
}

// serve serves until the room is gone.
func (p *puppet) serve() error {
	p.send(wire.Frame{Kind: wire.Ready})
	for {
		f, err := p.in.Read()
		if err != nil {
			return err
		}
		if f.Kind == wire.Call {
			p.stopReading(f)
		}
		p.mu.Lock()
		switch f.Kind {
		case wire.Call:
			p.replies[f.Call] = make(chan wire.Frame, wire.MaxRequests)
			p.cancels[f.Call] = make(chan struct{})
			go p.act(f.Call, p.replies[f.Call], p.cancels[f.Call], bytes.Clone(f.Data))
		case wire.Reply:
			f.Meta, f.Data = bytes.Clone(f.Meta), bytes.Clone(f.Data)
			p.replies[f.Call] <- f
		case wire.Cancel:
			close(p.cancels[f.Call]) // a second one would end this process
		}
		p.mu.Unlock()
	}
}

// stopReading does what has to be done while nothing is read.
func (p *puppet) stopReading(f wire.Frame) {
	verb, rest, _ := strings.Cut(strings.Trim(string(f.Data), `"`), " ")
	switch verb {
	case "go-deaf":
		p.send(result(f.Call, `"deaf"`))
		select {}
	case "crossed":
		n, _ := strconv.Atoi(rest)
		frame(wire.Request, 1, okRequest, "small")(p, f.Call)
		time.Sleep(100 * time.Millisecond) // the reply is under way, and stuck
		frame(wire.Request, 2, okRequest, strings.Repeat("x", n<<20))(p, f.Call)
	}
}

func (p *puppet) act(id uint64, replies chan wire.Frame, cancelled chan struct{}, args []byte) {
	var line string
	if err := json.Unmarshal(args, &line); err != nil {
		line = "echo " + err.Error()
	}
	verb, rest, _ := strings.Cut(line, " ")
	n, _ := strconv.Atoi(rest) // 0 where it is no number
	answer := rest
	switch verb {
	case "after":
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "pid":
		answer = strconv.Itoa(os.Getpid())
	case "ask":
		answer = strconv.Itoa(p.ask(id, n, replies))
	case "ask-and-wait":
		p.ask(id, 1, replies)
		select {}
	case "ask-and-end":
		frame(wire.Request, 1, okRequest, "")(p, id)
		time.Sleep(100 * time.Millisecond)
	case "gorge":
		many(n, func(i int) intrusion {
			return frame(wire.Request, uint32(i+1), okRequest, strings.Repeat("x", 1<<20))
		})(p, id)
		for range n {
			<-replies
		}
	case "abort":
		for i := range uint32(n) {
			frame(wire.Request, i+1, okRequest, "")(p, id)
			time.Sleep(20 * time.Millisecond)
			frame(wire.Abort, i+1, "", "")(p, id)
		}
	case "crossed":
		answer = fmt.Sprint(len((<-replies).Data) + len((<-replies).Data))
	case "trickle":
		trickle(p, id)
		return
	case "lie":
		p.send(result(id+1, `1`))
		select {}
	case "close":
		_ = os.NewFile(uintptr(n), "a pipe").Close()
		select {}
	case "hang":
		select {}
	case "patient":
		<-cancelled
		answer = "cancelled"
	case "crash":
		os.Exit(3)
	case "eat":
		kept := eat(n)
		for {
			time.Sleep(time.Hour)
			kept[0][0]++
		}
	case "hold":
		kept := eat(n)
		time.Sleep(1500 * time.Millisecond)
		kept[0][0] = 2
	case "flood":
		for i := 0; i < n || n == 0; i++ {
			p.send(wire.Frame{Kind: wire.Log, Call: id, Meta: []byte(`{"level":"info","at_ns":1}`)})
		}
	}
	value, _ := json.Marshal(answer) // a string
	p.send(wire.Frame{Kind: wire.Result, Call: id, Meta: []byte(`{"cpu_ns":1,"peak":1,"dropped":0}`), Data: value})
}

func (p *puppet) ask(id uint64, n int, replies chan wire.Frame) int {
	for i := range n {
		p.send(wire.Frame{Kind: wire.Request, Call: id, Request: uint32(i + 1), Meta: []byte(`{"op":"test","args":{"n":1}}`), Data: []byte("data")})
	}
	for i := range n {
		if f := <-replies; string(f.Data) != "DATA" || f.Request > uint32(n) {
			return i
		}
	}
	return n
}

// eat takes memory that stays as long as it is held.
func eat(mib int) (kept [][]byte) {
	for range mib {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 1 << 12 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
	return kept
}
