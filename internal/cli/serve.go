package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/mcpserver"
	"toolroom/tool"
)

func (a *app) mcpCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the workspace over MCP on standard input and output",
		Example: "  toolroom mcp --root ~/project\n" +
			"  # in a client's configuration:\n" +
			"  # {\"mcpServers\": {\"toolroom\": {\"command\": \"toolroom\", \"args\": [\"mcp\", \"--root\", \"/path/to/project\"]}}}",
		Args: noArgs,
	}
	a.operatorFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withWorkspace(c.Context(), tool.Model, func(w *toolroom.Workspace) error {
			return mcpserver.New(c.Context(), w, mcpserver.Options{Version: Version()}).Serve(c.Context(), a.in, a.out)
		})
	}
	return c
}

func (a *app) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the workspace over HTTP: MCP at /mcp, liveness at /healthz and /readyz",
		Example: "  toolroom serve --root ~/project\n  toolroom serve --addr 127.0.0.1:8080",
		Args:    noArgs,
	}
	a.operatorFlags(c)
	addr := c.Flags().String("addr", "127.0.0.1:7333", "loopback address to listen on")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := onlyLoopback(*addr); err != nil {
			return usage(c, err)
		}
		return a.withWorkspace(c.Context(), tool.Model, func(w *toolroom.Workspace) error {
			return a.serve(c.Context(), w, *addr)
		})
	}
	return c
}

// onlyLoopback refuses an address that others than this machine could reach:
// there are no keys yet that would tell callers apart.
func onlyLoopback(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if _, odd := strconv.ParseUint(port, 10, 16); err != nil || odd != nil {
		return fmt.Errorf("--addr %s: want HOST:PORT, such as 127.0.0.1:7333", addr)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--addr %s: only loopback can be served, such as 127.0.0.1:7333: nothing would tell callers from outside apart", addr)
}

// grace is how long calls under way may take when serving ends.
const grace = 5 * time.Second

func (a *app) serve(ctx context.Context, w *toolroom.Workspace, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return startError{tool.Errorf(tool.Stopped, "cannot listen on %s: %v", addr, reasonOf(err)).WithHint("Stop what listens there, or choose another address with --addr.").WithCause(err)}
	}
	mcp := mcpserver.New(ctx, w, mcpserver.Options{Version: Version()})
	server := &http.Server{Handler: guard(routes(w, mcp)), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(a.err, "MCP at http://%s/mcp (stop with Ctrl-C)\n", listener.Addr())
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		end(server, mcp)
	}()
	err = server.Serve(listener)
	stop()
	<-ended
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// routes is what is served where.
func routes(w *toolroom.Workspace, mcp *mcpserver.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(out http.ResponseWriter, r *http.Request) {
		if _, err := w.Tools(r.Context(), toolroom.ListOptions{Limit: 1}); err != nil {
			http.Error(out, tool.AsError(err).Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(out, "ok")
	})
	return mux
}

// end takes no new connections, lets the calls under way be answered, and closes what is open.
func end(server *http.Server, mcp *mcpserver.Server) {
	late, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- server.Shutdown(late) }()
	mcp.Close(late)
	if <-done != nil {
		_ = server.Close() // streams that did not end by themselves
	}
}

// reasonOf is why a system call failed, without the words around it.
func reasonOf(err error) error {
	var system *os.SyscallError
	if errors.As(err, &system) {
		return system.Err
	}
	return err
}

// guard refuses requests that a web page could have made a browser send: a
// Host that is not this machine, and an Origin that is not the Host.
func guard(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if !ownHost(r.Host) || origin != "" && origin != "http://"+r.Host || protection.Check(r) != nil {
			http.Error(w, "this server answers programs and pages of this machine only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func ownHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]") // no port
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
