package cli

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolroom"
)

// operator is the operator's choices, the same for every command that runs tools.
type operator struct {
	allowPrivate, exec, env []string
	net, isolation, level   string
	requireSandbox          bool
	timeout                 time.Duration
	memory                  int64
	maxTools, inFlight      int
	workers                 int
	rate                    float64
	exposed                 []string
	policy                  string
	approvalWait            time.Duration
	noGlobal                []string
}

// operatorFlags gives c the operator's flags. A TOOLROOM_ variable of the same
// name is the default of a flag: TOOLROOM_MAX_TOOLS for --max-tools.
func (a *app) operatorFlags(c *cobra.Command) {
	o, f := &a.operator, c.Flags()
	f.StringArrayVar(&o.allowPrivate, "allow-private", nil, "HOST:PORT or CIDR: a private address that tools may reach all the same (repeatable)")
	f.StringVar(&o.net, "net", "any", "any, or none: no tool reaches the network")
	f.StringArrayVar(&o.exec, "exec", nil, "a command that tools may be granted (repeatable); it sees the workspace's secret-like files too")
	f.StringVar(&o.isolation, "isolation", "isolate", "isolate, or process: a worker process for each call")
	f.BoolVar(&o.requireSandbox, "require-sandbox", false, "refuse to start without every layer of confinement (see toolroom doctor)")
	f.DurationVar(&o.timeout, "timeout", 0, "wall clock of a call, up to 15m (default 30s)")
	f.Int64Var(&o.memory, "memory", 0, "memory of a call in MiB, up to 1024 (default 128)")
	f.IntVar(&o.maxTools, "max-tools", 0, "tools in a workspace, up to 10000 (default 100)")
	f.IntVar(&o.inFlight, "in-flight", 0, "calls of a workspace at once, up to 10000 (default 64)")
	f.IntVar(&o.workers, "workers", 0, "worker processes of the room at once, up to 1000 (default 64)")
	f.Float64Var(&o.rate, "rate", 0, "calls of a workspace a second; more are answered rate_limited (default: no limit)")
	f.StringArrayVar(&o.exposed, "expose-secret-files", nil, "PATTERN: secret-like files, such as .env, that tools may read and change all the same (repeatable)")
	f.StringArrayVar(&o.env, "env", nil, "NAME=VALUE: handed to bodies as env.vars (repeatable)")
	f.StringVar(&o.policy, "policy", "", "file of rules that answer approvals (default: policy.json in the data directory, if it is there)")
	f.DurationVar(&o.approvalWait, "approval-wait", 0, "how long a change waits for an answer to its question in the inbox, up to 1h (default: not at all)")
	f.StringArrayVar(&o.noGlobal, "no-global-tools", nil, "a tenant that may have no global tools, or * for all (repeatable)")
	f.StringVar(&o.level, "log-level", "warn", "debug, info, warn or error; the log goes to standard error")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		a.chosen = true
		return a.fromEnvironment(c)
	}
}

// choose makes the operator's choices for a command that has no flags for them:
// what a tool may be depends on the room, so the variables count there too.
func (a *app) choose() error {
	if a.chosen {
		return nil
	}
	c := &cobra.Command{Use: "toolroom"}
	a.operatorFlags(c)
	return a.fromEnvironment(c)
}

// fromEnvironment sets the flags that were not given from TOOLROOM_ variables.
func (a *app) fromEnvironment(c *cobra.Command) error {
	var failed error
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := "TOOLROOM_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := a.getenv(name)
		if value == "" || f.Changed || failed != nil {
			return
		}
		for _, v := range variableValues(f, value) {
			if err := c.Flags().Set(f.Name, v); err != nil {
				failed = usage(c, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return failed
}

// variableValues splits the variable of a repeatable flag at commas.
func variableValues(f *pflag.Flag, value string) []string {
	if f.Value.Type() == "stringArray" {
		return strings.Split(value, ",")
	}
	return []string{value}
}

// options turns the flags into options, refusing what cannot be meant.
func (a *app) options() (toolroom.Options, error) {
	if err := a.choose(); err != nil {
		return toolroom.Options{}, err
	}
	o := a.operator
	opts := toolroom.Options{
		RequireSandbox: o.requireSandbox, AllowPrivate: o.allowPrivate, Exec: o.exec,
		Timeout: o.timeout, MemoryMB: o.memory, MaxTools: o.maxTools, InFlight: o.inFlight, Workers: o.workers, Rate: o.rate, ExposeSecretFiles: o.exposed, Env: map[string]string{},
		Isolation: toolroom.Isolation(o.isolation), NoNet: o.net == "none",
		Policy: o.policy, ApprovalWait: o.approvalWait, NoGlobalTools: o.noGlobal,
	}
	if err := oneOf("--net", o.net, "any", "none"); err != nil {
		return opts, err
	}
	if err := oneOf("--isolation", o.isolation, "isolate", "process"); err != nil {
		return opts, err
	}
	if opts.NoNet && len(o.allowPrivate) > 0 {
		return opts, usageError{err: fmt.Errorf("--allow-private has no effect with --net none: give one of them")}
	}
	for _, pair := range o.env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return opts, usageError{err: fmt.Errorf("--env %s: want NAME=VALUE", strconv.Quote(pair))}
		}
		opts.Env[name] = value
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.level)); err != nil {
		return opts, usageError{err: fmt.Errorf("--log-level: %q is none of debug, info, warn, error", o.level)}
	}
	opts.Logger = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	return opts, nil
}

// oneOf checks a flag of few values.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usageError{err: fmt.Errorf("%s: %q is none of %s", flag, value, strings.Join(allowed, ", "))}
}
