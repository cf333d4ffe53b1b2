package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

func newHook(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "hook AGENT", Short: "Gate the tools of an agent itself, as its hook", Args: cobra.ExactArgs(1), ValidArgs: hook.Names()}
	c.Long = "hook is what an agent runs at the events of its hooks: it reads an event, has the running proxy decide on\n" +
		"the call by its rules, or note how the call ended, and prints the answer in the form of the agent. Without\n" +
		"an answer of a proxy a call is refused. docs/hooks.md has what goes into the files of each agent.\n\n" +
		"AGENT is claude-code, codex, gemini-cli, cursor or vscode."
	session := c.Flags().String("session", "", "count for the session of this `name`, and not for that of the event")
	servers := c.Flags().StringArray("server", nil, "the agent's `name` for petrigate as an MCP server, whose calls are gated there (default petrigate)")
	c.RunE = func(c *cobra.Command, args []string) error {
		file, _ := c.Flags().GetString("config")
		code := control.HookRun{
			Dir: daemon.RuntimeDir(), Agent: args[0], Session: *session, Servers: *servers, Config: file, In: s.in, Out: s.out, Err: s.err,
		}.Run(c.Context())
		if code == 0 {
			return nil
		}
		return &exitError{code, nil}
	}
	return c
}
