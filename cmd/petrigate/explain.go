package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/simulate"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// Exit codes of petrigate explain with --exit-code.
const (
	exitRefuse = 5
	exitAsk    = 6
)

type explainFlags struct {
	policyFlags
	args     string
	tools    string
	after    []string
	exitCode bool
	verbose  bool
	json     bool
}

func newExplain(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "explain TOOL",
		Short: "Explain a verdict: which rule decides, and what would allow the call",
		Long: "explain decides a call in a new session, without a server. It shows the verdict of every net, the names that\n" +
			"apply to the call, and the shortest way to have it allowed. --after runs calls first; each succeeds, and every\n" +
			"approval they need is given. Write claude-code.Bash for the built-in tool Bash of Claude Code. Bash alone\n" +
			"works if the policy names tools of Claude Code and of no other agent with a Bash, and no server can have a\n" +
			"tool of that name.",
		Args: cobra.ExactArgs(1),
	}
	var f explainFlags
	f.add(c, "take")
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list (`file`, a response to tools/list); default: the tools of a running proxy with this configuration")
	c.Flags().StringVar(&f.args, "args", "", "call arguments, as a `JSON` object")
	c.Flags().StringArrayVar(&f.after, "after", nil, "`calls` to make first: a,b{\"x\": 1}")
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, "exit with code 5 if the call is refused, and with 6 if it requires approval")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "also list the nets that abstain")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, tool []string) error {
		if err := f.parse(s, c, nil); err != nil {
			return err
		}
		st, err := f.open()
		if err != nil {
			return err
		}
		if f.tools == "" {
			st.Learn(runningTools(st.Config()))
		} else {
			list, err := recordedTools(f.tools)
			if err != nil {
				return err
			}
			st.Learn(check.KnownSet(list, st.Config()))
		}
		return f.explain(s, st, simulate.Call{Tool: tool[0]})
	}
	return c
}

func (f *explainFlags) explain(s stdio, st *simulate.Simulation, call simulate.Call) (err error) {
	if f.args != "" {
		if call.Args, err = simulate.Arguments(f.args); err != nil {
			return usage("--args: %v", err)
		}
	}
	for _, text := range f.after {
		calls, err := simulate.ParseCalls(text)
		if err != nil {
			return usage("--after: %v", err)
		}
		for _, c := range calls {
			if err := st.Before(st.ReadAs(c)); err != nil {
				return err
			}
		}
	}
	e := st.Explain(st.ReadAs(call), f.verbose)
	if f.json {
		err = printJSON(s.out, e)
	} else {
		_, err = fmt.Fprint(s.out, e.Text(newInk(s.out)))
	}
	if err == nil && f.exitCode && e.Decision != "allow" {
		err = &exitError{map[string]int{"refuse": exitRefuse, "ask": exitAsk}[e.Decision], nil}
	}
	return err
}

// runningTools returns the tools of the running proxy that uses cfg. If it finds no such proxy, it
// returns an empty set.
func runningTools(cfg *config.Config) check.ToolSet {
	if cfg == nil {
		return check.ToolSet{}
	}
	file, err := filepath.Abs(cfg.File)
	if err != nil {
		return check.ToolSet{}
	}
	found, err := running()
	if err != nil {
		return check.ToolSet{}
	}
	for _, client := range found {
		if status, err := client.Status(); err != nil || status.Config != file {
			continue
		}
		if tools, err := client.Tools(""); err == nil && len(tools) > 0 {
			return check.KnownSet(daemon.ListedTools(tools), cfg)
		}
	}
	return check.ToolSet{}
}
