package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"time"
)

// maxDials bounds connections that are being made at the same time for one workspace.
const maxDials = 128

// Pool keeps the connections of one workspace. No other workspace ever gets one
// of them.
type Pool struct {
	guard     *Guard
	transport *http.Transport
	open      chan struct{} // one token an exchange
	dials     chan struct{}
	life      context.Context
	end       context.CancelFunc
}

// NewPool opens a workspace's pool. Close it when the workspace is closed.
func (g *Guard) NewPool() *Pool {
	p := &Pool{guard: g, open: make(chan struct{}, g.opts.MaxOpen), dials: make(chan struct{}, maxDials)}
	p.life, p.end = context.WithCancel(context.Background())
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	p.transport = &http.Transport{
		Proxy:                  nil, // proxy variables would lead around the guard
		DialContext:            p.dial,
		Protocols:              protocols,
		TLSClientConfig:        &tls.Config{RootCAs: g.opts.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true, // decoded here, under a limit
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        g.opts.Idle,
		MaxResponseHeaderBytes: 32 << 10,
		ReadBufferSize:         4 << 10,
		WriteBufferSize:        4 << 10,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10},
	}
	return p
}

// dial makes a connection for the transport; it ends with the pool at the latest.
func (p *Pool) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	if err := acquire(ctx, p.dials); err != nil {
		return nil, err
	}
	defer release(p.dials)
	name, digits, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return nil, err
	}
	return p.guard.dial(ctx, name, uint16(port))
}

// Close ends idle connections and those being made. Clients are closed before.
func (p *Pool) Close() {
	p.end()
	p.transport.CloseIdleConnections()
}

func acquire(ctx context.Context, tokens chan struct{}) error {
	select {
	case tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func release(tokens chan struct{}) { <-tokens }
