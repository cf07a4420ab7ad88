package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
		Short:   "Serve the workspace over HTTP: MCP at /mcp, liveness at /healthz",
		Example: "  toolroom serve --root ~/project\n  toolroom serve --addr 127.0.0.1:8080",
		Args:    noArgs,
	}
	a.operatorFlags(c)
	addr := c.Flags().String("addr", "127.0.0.1:7333", "loopback address to listen on")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := onlyLoopback(*addr); err != nil {
			return err
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
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError{err: fmt.Errorf("--addr %s: want HOST:PORT", addr)}
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usageError{err: fmt.Errorf("--addr %s: only loopback can be served, such as 127.0.0.1:7333: nothing would tell callers from outside apart", addr)}
}

// grace is how long requests under way may take when serving ends.
const grace = 10 * time.Second

func (a *app) serve(ctx context.Context, w *toolroom.Workspace, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return startError{tool.Errorf(tool.Internal, "cannot listen on %s: %v", addr, err).WithHint("Choose another address with --addr.").WithCause(err)}
	}
	follow, stop := context.WithCancel(ctx)
	defer stop()
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcpserver.New(follow, w, mcpserver.Options{Version: Version()}).Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	server := &http.Server{Handler: guard(mux), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	fmt.Fprintf(a.err, "MCP at http://%s/mcp (stop with Ctrl-C)\n", listener.Addr())
	go func() {
		<-follow.Done()
		late, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close() // streams that do not end by themselves
		}
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
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
		name = host
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
