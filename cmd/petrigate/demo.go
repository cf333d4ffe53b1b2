package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/fixture"
)

const demoLimit = 30 * time.Second // for all of it, should something hang

//go:embed demo.rules
var demoRules string

//go:embed demo.net.yaml
var demoNet string

func newDemo(s stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch a scripted agent meet the gate",
		Long: "demo plays an agent against a real proxy in front of a real MCP server, both of them this program,\n" +
			"and shows what passes and what does not. It needs no set-up and no network and leaves nothing behind.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), demoLimit)
			defer cancel()
			// A reader that has seen enough must not end us before we have cleaned up.
			defer outlivePipes()()
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			return runDemo(ctx, exe, newTeller(s.out))
		},
	}
}

// newDemoUpstream is the MCP server behind the demo.
func newDemoUpstream(s stdio) *cobra.Command {
	return &cobra.Command{
		Use: "demo-upstream", Hidden: true, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if code := fixture.Run(c.Context(), args, s.in, s.out); code != 0 {
				return &exit{code, nil}
			}
			return nil
		},
	}
}

// runDemo tells the story, with the program as the proxy, and holds every reply
// against what it should be.
func runDemo(ctx context.Context, exe string, t *teller) error {
	dir, err := os.MkdirTemp("", "petrigate-demo-")
	if err != nil {
		return fmt.Errorf("making a directory for the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeDemo(dir, exe); err != nil {
		return err
	}
	t.opening(demoRules, demoNet)
	agent, err := startDemoAgent(ctx, exe, dir)
	if err != nil {
		return err
	}
	made, err := t.tell(agent, demoStory())
	if closing := agent.close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("playing the demo: %w%s", err, agent.said())
	}
	seen, err := readDemo(dir)
	if err != nil {
		return err
	}
	return t.ending(made, seen)
}

// writeDemo writes the configuration of the proxy.
func writeDemo(dir, exe string) error {
	config := fmt.Sprintf(`version: 1
mcpServers:
  demo: { command: %s, args: [demo-upstream, --tools, demo, --record, %s], prefix: "" }
rules: [{ file: demo.rules }]
nets: [{ file: demo.net.yaml }]
audit: { file: audit.jsonl }
log: { level: error }
`, demoQuoted(exe), demoQuoted(filepath.Join(dir, "calls.jsonl")))
	for name, text := range map[string]string{"petrigate.yaml": config, "demo.rules": demoRules, "demo.net.yaml": demoNet} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing the configuration of the demo: %w", err)
		}
	}
	return nil
}

// demoQuoted is a path as the configuration reads it: a dollar sign would
// begin a variable.
func demoQuoted(path string) string {
	text, err := json.Marshal(strings.ReplaceAll(path, "$", "$$"))
	if err != nil {
		panic(err) // a string
	}
	return string(text)
}

// demoSeen is what the others have on record of the calls of the agent.
type demoSeen struct {
	allowed, refused int // decisions in the audit log
	executed         int // calls that reached the upstream
}

// readDemo reads the audit log and the records of the upstream.
func readDemo(dir string) (seen demoSeen, err error) {
	audit, err := os.Open(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		return seen, fmt.Errorf("opening the audit log: %w", err)
	}
	defer func() { _ = audit.Close() }()
	for d := json.NewDecoder(audit); ; {
		var entry struct{ Event, Decision string }
		if err := d.Decode(&entry); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return seen, fmt.Errorf("reading the audit log: %w", err)
		}
		switch {
		case entry.Event != "decision":
		case entry.Decision == "allow":
			seen.allowed++
		default:
			seen.refused++
		}
	}
	calls, err := os.Open(filepath.Join(dir, "calls.jsonl"))
	if err != nil {
		return seen, fmt.Errorf("opening the records of the upstream: %w", err)
	}
	defer func() { _ = calls.Close() }()
	records, err := fixture.ReadRecords(calls)
	for _, r := range records {
		if r.Kind == fixture.Executed {
			seen.executed++
		}
	}
	return seen, err
}
