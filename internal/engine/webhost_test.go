package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// webHost serves net.* with a real client against loopback servers, and keeps files in a map.
type webHost struct {
	mu      sync.Mutex
	call    *Call
	files   map[string]string
	streams map[int]io.ReadCloser
	last    int
	closed  int
	aborted int
	lines   []string
	ops     []string
	done    []tool.Progress
}

type fetchArgs struct {
	URL, Method, Redirect string
	Headers               [][2]string
	TimeoutMS             float64
}

func (h *webHost) Request(id uint32, op string, args, data []byte) {
	args, data = bytes.Clone(args), bytes.Clone(data)
	h.mu.Lock()
	h.ops = append(h.ops, op+" "+string(args))
	call := h.call
	h.mu.Unlock()
	go func() {
		value, out, e := h.serve(op, args, data)
		p := Reply{ID: id, Data: out}
		if value != nil {
			p.Value, _ = json.Marshal(value)
		}
		if e != nil {
			p.Error, _ = json.Marshal(e)
		}
		call.Reply(p)
	}()
}

func (h *webHost) serve(op string, args, data []byte) (any, []byte, *tool.Error) {
	var a struct {
		fetchArgs
		Stream             int
		Path, Name         string
		Append             bool
		Command, Algorithm string
		Args               json.RawMessage
	}
	json.Unmarshal(args, &a)
	switch op {
	case "net.fetch":
		return h.fetch(a.fetchArgs, data)
	case "net.read":
		return h.read(a.Stream)
	case "net.close":
		h.close(a.Stream)
		return nil, nil, nil
	case "secrets.standin":
		return "standin-" + a.Name, nil, nil
	case "secrets.hmac":
		return nil, append([]byte(a.Name+a.Algorithm), data...), nil
	case "exec.run":
		out := append([]byte(a.Command+string(a.Args)), data...)
		return map[string]any{"exitCode": 0, "stdoutBytes": len(out), "stderrBytes": 0}, out, nil
	case "tool.call":
		return nil, data, nil
	}
	return h.file(op, a.Path, a.Append, data)
}

func (h *webHost) file(op, path string, add bool, data []byte) (any, []byte, *tool.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old, there := h.files[path]
	switch op {
	case "files.write":
		if add {
			data = append([]byte(old), data...)
		}
		h.files[path] = string(data)
		return map[string]int{"size": len(data)}, nil, nil
	case "files.list":
		list := []map[string]any{}
		for name := range h.files {
			list = append(list, map[string]any{"name": name, "path": name, "type": "file"})
		}
		out, _ := json.Marshal(list) // text always encodes
		return nil, out, nil
	}
	if !there {
		return nil, nil, &tool.Error{Code: tool.NotAFile, Message: path + " is not there", Hint: "List the files."}
	}
	if op == "files.remove" {
		delete(h.files, path)
	}
	return map[string]any{"name": path, "size": len(old)}, []byte(old), nil
}

func failed(code tool.Code, err string) (any, []byte, *tool.Error) {
	return nil, nil, &tool.Error{Code: code, Message: err}
}

func (h *webHost) fetch(a fetchArgs, body []byte) (any, []byte, *tool.Error) {
	if u, err := url.Parse(a.URL); err != nil || u.Scheme == "" {
		return failed(tool.InvalidURL, "not a URL: "+a.URL)
	}
	if !strings.HasPrefix(a.URL, "http://127.0.0.1:") {
		return failed(tool.EgressDenied, "only loopback may be reached, not "+a.URL)
	}
	req, err := http.NewRequest(a.Method, a.URL, bytes.NewReader(body))
	if err != nil {
		return failed(tool.InvalidURL, err.Error())
	}
	for _, p := range a.Headers {
		req.Header.Add(p[0], p[1])
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		if a.Redirect == "manual" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := c.Do(req)
	if err != nil {
		return failed(tool.FetchFailed, err.Error())
	}
	h.mu.Lock()
	h.last++
	stream := h.last
	h.streams[stream] = res.Body
	h.mu.Unlock()
	headers := [][2]string{}
	for name, list := range res.Header {
		for _, v := range list {
			headers = append(headers, [2]string{name, v})
		}
	}
	done, first, e := h.read(stream)
	return map[string]any{"url": res.Request.URL.String(), "status": res.StatusCode, "statusText": http.StatusText(res.StatusCode),
		"headers": headers, "redirected": res.Request.URL.String() != a.URL, "stream": stream, "done": done["done"]}, first, e
}

func (h *webHost) read(stream int) (map[string]any, []byte, *tool.Error) {
	h.mu.Lock()
	body := h.streams[stream]
	h.mu.Unlock()
	if body == nil {
		return nil, nil, &tool.Error{Code: tool.FetchFailed, Message: "no such stream"}
	}
	buf := make([]byte, 16<<10)
	n, err := body.Read(buf)
	if err != nil {
		h.close(stream)
	}
	if err != nil && err != io.EOF {
		return nil, nil, &tool.Error{Code: tool.FetchFailed, Message: err.Error()}
	}
	return map[string]any{"done": err == io.EOF}, buf[:n], nil
}

func (h *webHost) close(stream int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if body := h.streams[stream]; body != nil {
		body.Close()
		h.closed++
	}
	delete(h.streams, stream)
}

func (h *webHost) Abort(uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.aborted++
}

func (h *webHost) Log(level string, _ time.Duration, text string) {
	h.lines = append(h.lines, level+": "+text)
}

func (h *webHost) Progress(p tool.Progress) { h.done = append(h.done, p) }

// webServer is what programs fetch from, here and in Node.
func webServer(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(s.Close)
	return s.URL
}

func answer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/echo":
		body, _ := io.ReadAll(r.Body)
		headers := map[string]string{}
		for name, v := range r.Header {
			headers[strings.ToLower(name)] = strings.Join(v, ", ")
		}
		json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "query": r.URL.RawQuery, "headers": headers, "body": string(body), "base64": base64.StdEncoding.EncodeToString(body)})
	case "/big":
		w.Header().Set("X-A", "1")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		for range 20 {
			w.Write(bytes.Repeat([]byte("0123456789"), 1000))
			w.(http.Flusher).Flush()
		}
	case "/slow":
		select {
		case <-time.After(time.Second):
		case <-r.Context().Done():
		}
	case "/redirect":
		http.Redirect(w, r, "/echo?from=redirect", http.StatusFound)
	case "/status":
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "down for a while")
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/form":
		r.ParseMultipartForm(1 << 20)
		out := map[string]any{}
		for name, v := range r.MultipartForm.Value {
			out[name] = v[0]
		}
		for name, v := range r.MultipartForm.File {
			f, _ := v[0].Open()
			b, _ := io.ReadAll(f)
			out[name] = map[string]string{"filename": v[0].Filename, "type": v[0].Header.Get("Content-Type"), "body": string(b)}
		}
		json.NewEncoder(w).Encode(out)
	default:
		http.NotFound(w, r)
	}
}

func newWebHost() *webHost {
	return &webHost{files: map[string]string{}, streams: map[int]io.ReadCloser{}}
}

// run runs a body with files and a web to fetch from.
func (h *webHost) run(t testing.TB, e *Engine, body, args string) (string, wire.ResultMeta) {
	t.Helper()
	code, f := e.Compile("tool.js", []byte("(async function execute(args, ctx) {"+body+"\n})"))
	if f != nil {
		t.Fatalf("compile: %+v", f)
	}
	c := e.Start(&Job{Code: code, Args: []byte(args), Env: []byte(`{"tool":"t"}`), Timeout: 10 * time.Second, Memory: 128 << 20, MaxResult: 1 << 20, MaxLog: 64 << 10, Host: h})
	h.mu.Lock()
	h.call = c
	h.mu.Unlock()
	out, meta := ran(c)
	return string(out), meta
}
