// Command peers measures today's other ways of running a model's tools beside
// Toolroom: the same four bodies, a peer and Toolroom in turn on the same
// machine, and prints one table of ratios.
//
//	go run ./bench/peers --peers ../shared/peers
//
// Installing the peers takes a few minutes: isolated-vm is compiled.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolroom"
)

func main() {
	toolroom.WorkerMain()
	peers := flag.String("peers", "../shared/peers", "folder with the peers' scripts")
	only := flag.String("only", "", "run only the peer of this file name, without .mjs")
	flag.Parse()
	if err := run(context.Background(), *peers, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, from, only string) error {
	dir, err := os.MkdirTemp("", "toolroom-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := install(ctx, from, dir); err != nil {
		return err
	}
	bodies, err := readBodies(ctx, dir)
	if err != nil {
		return err
	}
	var rows []row
	for _, peer := range []string{"ivm", "workervm", "nodeipc", "denoproc"} {
		if only != "" && only != peer {
			continue
		}
		more, err := compare(ctx, dir, peer, bodies)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	printTable(rows)
	return nil
}

// install copies the scripts, since their folder may be read-only, and fetches what they need.
func install(ctx context.Context, from, dir string) error {
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return fmt.Errorf("copying the peers: %w", err)
	}
	fmt.Fprintln(os.Stderr, "installing the peers; isolated-vm is compiled, which takes minutes …")
	for _, args := range [][]string{{"install", "--foreground-scripts"}, {"rebuild", "isolated-vm", "deno", "--foreground-scripts"}} {
		c := exec.CommandContext(ctx, "npm", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("npm %s: %w\n%s", strings.Join(args, " "), err, tail(string(out)))
		}
	}
	return nil
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// body is one of the peers' bodies.
type body struct {
	Body string          `json:"body"`
	Args json.RawMessage `json:"args"`
}

// readBodies asks Node for them, so that Toolroom runs the very same text.
func readBodies(ctx context.Context, dir string) (map[string]body, error) {
	c := exec.CommandContext(ctx, "node", "-e", `import(process.argv[1]).then(m => console.log(JSON.stringify(m.bodies)))`, filepath.Join(dir, "bodies.mjs"))
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("reading the peers' bodies: %w", err)
	}
	var bodies map[string]body
	return bodies, json.Unmarshal(out, &bodies)
}

// figures are what one runtime reached with one body.
type figures struct {
	Peer string  `json:"peer"`
	Name string  `json:"name"`
	P50  float64 `json:"p50"` // milliseconds, one call after the other
	P99  float64 `json:"p99"`
	CPS  float64 `json:"cps"` // calls a second, 16 in flight
}

type row struct{ peer, ours figures }

// compare runs a peer body by body, and Toolroom right after each.
func compare(ctx context.Context, dir, peer string, bodies map[string]body) ([]row, error) {
	var rows []row
	for _, name := range []string{"trivial", "json", "text", "cpu"} {
		fmt.Fprintf(os.Stderr, "%s: %s …\n", peer, name)
		c := exec.CommandContext(ctx, "node", peer+".mjs")
		c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), "ONLY="+name), os.Stderr
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("running %s: %w", peer, err)
		}
		var r row
		if err := json.Unmarshal(out, &r.peer); err != nil {
			return nil, fmt.Errorf("reading what %s printed: %w", peer, err)
		}
		if r.ours, err = measure(ctx, name, bodies[name]); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// printTable says how many times faster Toolroom is; below 1 it is slower.
func printTable(rows []row) {
	fmt.Println("| peer | body | peer p50 ms | ours p50 ms | p50 ratio | peer calls/s | ours calls/s | calls/s ratio |")
	fmt.Println("|---|---|--:|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		fmt.Printf("| %s | %s | %.3f | %.3f | %.2f | %.0f | %.0f | %.2f |\n", r.peer.Peer, r.peer.Name,
			r.peer.P50, r.ours.P50, r.peer.P50/r.ours.P50, r.peer.CPS, r.ours.CPS, r.ours.CPS/r.peer.CPS)
	}
}
